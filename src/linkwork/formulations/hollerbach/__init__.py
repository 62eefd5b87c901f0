"""Methods of this family, for the catalog."""

from ..method import Method

METHODS: tuple[Method, ...] = ()
