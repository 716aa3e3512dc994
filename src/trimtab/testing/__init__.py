"""Contract checks for methods and components of one's own: what each of them owes its users.

``check_method(factory)`` and ``check_component(factory)`` raise an AssertionError that names the
first promise that is broken. Every method and component of this package passes the same checks.
"""

from trimtab.testing.check import check_component, check_method

__all__ = ["check_component", "check_method"]
