from tests.tracking.fixtures import home, migrated_database, server

__all__ = ["home", "migrated_database", "server"]
