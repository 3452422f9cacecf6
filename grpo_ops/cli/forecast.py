"""`grpo-ops forecast CURVE...`: text for one curve, a table for several, JSON or a picture for both."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from grpo_ops.cli.curves import Named, curves_of, is_collection
from grpo_ops.cli.failures import EXIT_BAD_INPUT, complain, needs
from grpo_ops.cli.forecast_options import ForecastOptions
from grpo_ops.cli.siblings import Study
from grpo_ops.errors import GrpoOpsError

if TYPE_CHECKING:
    from grpo_ops.report import ForecastReport, Hindsight

T = TypeVar("T")
R = TypeVar("R")


def forecast_command(sources: Sequence[str], options: ForecastOptions) -> int:
    """Forecast, or look back on, all the curves in `sources`. Exit code 2 where one of several cannot be had."""
    options.check()
    is_one = len(sources) == 1 and not is_collection(sources[0])
    found, lost = attempted(sources, lambda source: curves_of(source, options.reward, options.step), is_one)
    runs = [run for runs in found for run in runs]
    study = Study.of(options.siblings, options.reward, options.step)
    if options.is_hindsight:
        looks, failed = attempted(runs, lambda run: hindsight_of(run, study, options), is_one)
        _show_hindsight(looks, options)
    else:
        reports, failed = attempted(runs, lambda run: report_of(run, study, options), is_one)
        _show(reports, options, is_one)
    return EXIT_BAD_INPUT if lost or failed else 0


def attempted(items: Iterable[T], make: Callable[[T], R], is_one: bool) -> tuple[list[R], int]:
    """What `make` gives for each item, and for how many it failed; of one alone the error is raised, else said."""
    made, failed = [], 0
    for item in items:
        try:
            made.append(make(item))
        except GrpoOpsError as error:
            if is_one:
                raise
            complain(str(error))
            failed += 1
    return made, failed


def report_of(run: Named, study: Study, options: ForecastOptions) -> "ForecastReport":
    """The forecast of one curve, or of its first part."""
    from grpo_ops.report import ForecastReport

    siblings, params, notes = study.around(run)
    try:
        curve, horizon = options.early(run.curve)
    except GrpoOpsError as error:
        raise type(error)(f"{run.name}: {error}") from error
    return ForecastReport.of(
        curve,
        name=run.name,
        horizon=horizon,
        siblings=siblings,
        params=params,
        level=options.level,
        notes=(*run.notes, *notes),
        evaluations=run.evaluations and run.evaluations.upto(curve.steps[-1] if len(curve) else 0),
    )


def hindsight_of(run: Named, study: Study, options: ForecastOptions) -> "Hindsight":
    """What would have been said early in one finished curve."""
    from grpo_ops.report import Hindsight

    siblings, params, notes = study.around(run)
    known = {"name": run.name, "siblings": siblings, "params": params, "level": options.level}
    return Hindsight.of(run.curve, **known, notes=(*run.notes, *notes))


def _show(reports: Sequence["ForecastReport"], options: ForecastOptions, is_one: bool) -> None:
    if options.plot is not None and reports:
        _draw(reports, options.plot)
    if options.as_json:
        documents = [report.as_dict() for report in reports]
        print(json.dumps(documents[0] if is_one else documents, indent=1))
    elif is_one:
        _print_text(reports[0])
    elif reports:
        from grpo_ops.cli.forecast_table import print_forecasts

        print_forecasts(reports)


def _show_hindsight(looks: Sequence["Hindsight"], options: ForecastOptions) -> None:
    if options.as_json:
        print(json.dumps([look.as_dict() for look in looks], indent=1))
    elif looks:
        from grpo_ops.cli.hindsight_table import print_hindsight

        print_hindsight(looks)


def _print_text(report: "ForecastReport") -> None:
    from grpo_ops.cli.printing import is_unicode, standard_output
    from grpo_ops.report import forecast_text

    console = standard_output()
    text = forecast_text(report, plain=not is_unicode(), width=console.width if console.is_terminal else None)
    print(text)


def _draw(reports: Sequence["ForecastReport"], path: Path) -> None:
    if path.suffix.lower() == ".png":
        needs("cli", "matplotlib")
        from grpo_ops.report import forecasts_figure, save_png

        save_png(forecasts_figure(reports), path)
    else:
        needs("cli", "plotly")
        from grpo_ops.report import forecasts_page, save_html

        save_html(forecasts_page(reports), path)
