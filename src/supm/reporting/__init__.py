"""How a table, a picture and a page look, on the command line, in a notebook and in a browser.

No words of any strand live here: a result of a strand inherits `Result`, says what it is in plain
values, tables and a drawing, and shows itself everywhere in the same way.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
