from supm.service.app import Settings as Settings
from supm.service.app import make_app as make_app
from supm.service.remote import RemoteStudy as RemoteStudy
from supm.service.serving import run as run
from supm.service.serving import running as running
from supm.service.store import Opened as Opened
from supm.service.store import Store as Store
from supm.service.store.values import State as State
