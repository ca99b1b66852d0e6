"""A plain server for comparison: pydantic reads, SQLAlchemy's ORM inserts, nothing is checked.

A report that is sent twice is stored twice, and symbols are taken as they come. Each commit waits
for the disk, as ours does.

Usage: python orm_insert.py DATABASE --json FILE
"""

import json
import sys
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    pass


class Stored(Base):
    __tablename__ = "bare_reports"
    number: Mapped[int] = mapped_column(primary_key=True)
    study: Mapped[str] = mapped_column(sa.String(64))
    phase: Mapped[str] = mapped_column(sa.String(8))
    report: Mapped[str] = mapped_column(sa.String(32))
    symbols: Mapped[list[int]] = mapped_column(sa.JSON)


class Item(BaseModel):
    id: str
    symbols: list[int]


class Batch(BaseModel):
    version: int
    study: str
    phase: str
    group: int
    reports: list[Item]


def make_app(url: str) -> FastAPI:
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    if engine.dialect.name == "sqlite":
        sa.event.listen(engine, "connect", _prepare)
    Base.metadata.create_all(engine)
    app = FastAPI()

    @app.post("/reports/batch")
    def post(batch: Batch) -> dict[str, int]:
        head = {"study": batch.study, "phase": batch.phase}
        rows = [{**head, "report": each.id, "symbols": each.symbols} for each in batch.reports]
        with Session(engine) as session:
            session.execute(sa.insert(Stored), rows)
            session.commit()
        return {"accepted": len(rows)}

    return app


def _prepare(connection: Any, _record: object) -> None:  # noqa: ANN401  a driver's connection
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA busy_timeout=30000")


def say_where(port: int) -> None:
    Path(sys.argv[3]).write_text(json.dumps({"url": f"http://127.0.0.1:{port}"}) + "\n")


class Server(uvicorn.Server):
    async def startup(self, sockets: Any = None) -> None:  # noqa: ANN401  uvicorn's own
        await super().startup(sockets)
        say_where(self.servers[0].sockets[0].getsockname()[1])


if __name__ == "__main__":
    Server(uvicorn.Config(make_app(sys.argv[1]), port=0, log_level="warning")).run()
