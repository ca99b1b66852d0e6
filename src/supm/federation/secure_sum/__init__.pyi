from supm.federation.secure_sum.wire import Roster as Roster
from supm.federation.secure_sum.wire import roster_fingerprint as roster_fingerprint
