from supm.service.store._database import DatabaseAddress as DatabaseAddress
from supm.service.store.store import Store as Store
from supm.service.store.values import Opened as Opened
from supm.service.store.values import Refusal as Refusal
from supm.service.store.values import Submission as Submission
from supm.service.store.values import Verdict as Verdict
