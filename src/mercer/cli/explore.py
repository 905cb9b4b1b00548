"""``mercer explore``: the live page with Python behind it."""

from pathlib import Path

import click

from mercer.cli.options import speaks


@click.command(short_help="Explore data or a model in the browser.")
@click.argument("source", required=False, type=click.Path(path_type=Path), metavar="[DATA|MODEL]")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0: any that is free.")
@click.option("--token", help="A secret for the address; needed where others can reach --host.")
@click.option("--no-browser", is_flag=True, help="Print the address, and open nothing.")
@speaks
def explore(
    source: Path | None,
    host: str,
    port: int,
    token: str | None,
    no_browser: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Explore DATA or a MODEL in the browser, or files that you drop on the page.

    Only this machine can reach the page, and only with the token in its address. Stop with Ctrl-C.
    Needs more packages: pip install starlette uvicorn websockets.
    """
    from mercer._base.optional import require
    from mercer._base.spelling import similar_file
    from mercer.cli.console import print_json, remark
    from mercer.cli.faults import Failure
    from mercer.cli.stop import stopped_by

    if source is not None and not source.exists():
        guess = similar_file(source) or "; check its name."
        raise Failure(f"there is no file '{source}'{guess}")
    if source is not None and source.is_dir() and not any(source.glob("*.png")):
        from mercer.io.parquet import parquet_files

        parquet_files(source)  # says that there are none
    for package in ("starlette", "uvicorn", "websockets"):
        require(package, "explore")
    from mercer.live.server import is_loopback, open_server

    if token is None and not is_loopback(host):
        raise click.UsageError(f"others can reach '{host}'; give a secret with --token")
    with open_server(source, host=host, port=port, token=token) as served:
        if as_json:
            print_json({"url": served.url})
        else:
            click.echo(served.url)
        if not no_browser:
            import webbrowser

            webbrowser.open(served.url)
        if not quiet:
            remark("stop with Ctrl-C")
        with stopped_by(served.stop):
            served.run()
