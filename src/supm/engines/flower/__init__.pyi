from supm.engines.flower.certificates import Authority as Authority
from supm.engines.flower.certificates import NodeKey as NodeKey
from supm.engines.flower.coordinating import coordinate as coordinate
from supm.engines.flower.coordinating import server_app as server_app
from supm.engines.flower.launching import SuperLink as SuperLink
from supm.engines.flower.launching import free_port as free_port
from supm.engines.flower.taking_part import client_app as client_app
from supm.engines.flower.taking_part import take_part as take_part

QUIET: dict[str, str]
