"""Public data sets of the papers, each with a schema whose bounds are public, too.

A loader takes its file from the folder that the environment variable ``SUPM_DATA`` names; without
it, it takes the original from the user's cache folder or downloads it from where it is published.
Every file is checked by its SHA-256 before it is read. WDBC and Diabetes come with scikit-learn.
"""

from supm._lazy import names_on_demand

__all__, __getattr__, __dir__ = names_on_demand(__name__, __file__)
