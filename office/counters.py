"""Numbers that must be dense: counted and read in one statement, with the row locked to the commit."""

from django.db import connection, models


def count_up(model: type[models.Model], field: str, **where: str) -> tuple[int, str]:
    """Adds one to `field` of the row that `where` names and returns (new value, primary key).

    Names come from code, values are parameters. Raises `LookupError` when there is no such row. Plain SQL, since the
    ORM has no UPDATE … RETURNING and a read after the write costs as much again.
    """
    table, key = model._meta.db_table, model._meta.pk.column
    wheres = " AND ".join(f"{column} = %s" for column in where)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET {field} = {field} + 1 WHERE {wheres} RETURNING {field}, {key}", list(where.values())
        )
        row = cursor.fetchone()
    if row is None:
        raise LookupError(f"{table} has no row with {where}")
    return row[0], row[1]
