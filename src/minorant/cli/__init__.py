"""The command `minorant`: fit, predict, certify, export, demo.

Exit status   0  done, and what was asked for is proved
              3  stopped before the gap was within tol; the gap that was reached is printed and still proved
              2  bad input, or a certificate that does not hold
Nothing is imported before the arguments are understood, so that `--help` answers at once.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import minorant
from minorant.cli._models import MODELS_TEXT
from minorant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["main"]

CERTIFIED, BAD_INPUT, NOT_CERTIFIED = 0, 2, 3
_INTERRUPTED, _BROKEN_PIPE = 128 + 2, 128 + 13  # what a shell reports for SIGINT and SIGPIPE


class _Parser(argparse.ArgumentParser):
    """Messages as all others of this command: `minorant: error: ...`."""

    def error(self, message: str) -> NoReturn:
        raise _Usage(f"{message}\nTry `{self.prog} --help`.")


class _Usage(Exception):
    """A command line that is not understood."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status says how it went."""
    try:
        status = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader went away (`minorant predict ... | head`): say nothing, now and when Python flushes at its end.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (_Usage, InputError, OSError, MemoryError) as error:
        print(f"minorant: error: {_reason(error)}", file=sys.stderr)
        return BAD_INPUT
    return status


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    if isinstance(error, OSError) and error.errno is not None:  # all other files are named
        return f"standard output: {error.strerror}"
    return str(error) or "not enough memory for these data"


def _run(words: list[str]) -> int:
    parser, commands = _parsers()
    if not words:
        parser.print_help()
        return BAD_INPUT
    if words[0] not in {**commands, **dict.fromkeys(parser._option_string_actions)}:
        near = _near(words[0], [*commands, "--help", "--version"])
        raise _Usage(f"unknown command {words[0]!r}{near} Commands: {', '.join(commands)}.")
    try:
        args, unknown = parser.parse_known_args(_class_weights(words))
    except SystemExit as done:  # after --help and --version
        return int(done.code or 0)
    if unknown:
        options = [name for action in commands[args.command]._actions for name in action.option_strings]
        word = next((w for w in unknown if w.startswith("-")), unknown[0])
        raise _Usage(
            f"unknown argument {word!r}{_near(word.partition('=')[0], options)} "
            f"`minorant {args.command} --help` lists what there is."
        )
    command: Any = import_module(f"minorant.cli.{args.command}")
    return int(command.run(args))


def _near(word: str, names: Iterable[str]) -> str:
    near = get_close_matches(word, list(names), n=1)
    return f"; did you mean {near[0]!r}?" if near else "."


def _class_weights(words: list[str]) -> list[str]:
    """LIBLINEAR's `-w-1 2` and our `-w -1=2` as `-w-1=2`: argparse would take the label -1 for an option."""
    joined: list[str] = []
    for word in words:
        before = joined[-1] if joined else ""
        if before == "-w" and "=" in word:
            joined[-1] = "-w" + word
        elif re.fullmatch(r"-w[-+]?[\d.]+(e[-+]?\d+)?", before) and not word.startswith("--"):
            joined[-1] = f"{before}={word}"
        else:
            joined.append(word)
    return joined


def _parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    parser = _Parser(
        prog="minorant",
        description="Train a linear model and prove how close to the optimum it is.",
        epilog="Exit status: 0 certified; 3 stopped before the gap was within tol (the gap is printed); 2 bad input. "
        "`minorant COMMAND --help` explains a command; `minorant demo` shows them all.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"minorant {minorant.__version__}")
    found = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands: dict[str, argparse.ArgumentParser] = {}
    for name, summary, fill in (
        ("fit", "fit a model to data and certify it", _add_fit),
        ("predict", "label data by a model, or predict their targets", _add_predict),
        ("certify", "check the certificate of a model against the data, independently of the fit", _add_certify),
        ("export", "write a model in the text format of LIBLINEAR, without its proof", _add_export),
        ("demo", "fit, certify and draw a small example", _add_demo),
    ):
        commands[name] = found.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:] + ".", allow_abbrev=False
        )
        fill(commands[name])
    return parser, commands


_DATA = "LIBSVM text (plain, gz, bz2 or xz), or the directory of a cache"


def _add_fit(p: argparse.ArgumentParser) -> None:
    p.add_argument("data", metavar="DATA", help=_DATA)
    p.add_argument("-o", "--output", metavar="MODEL", help="the model file (default: the name of DATA + .model, here)")
    p.add_argument("--model", default="svm", metavar="NAME", help="what to fit, see below (default svm, a linear SVM)")
    _add_model_options(p)
    p.add_argument(
        "-e", "--tol", type=float, default=1e-3, metavar="TOL", help="relative duality gap to reach (default 0.001)"
    )
    p.add_argument("--no-intercept", action="store_true", help="no bias; by default it is free and not penalized")
    p.add_argument(
        "-w", action="append", default=[], metavar="LABEL=WEIGHT", help="weight of the examples of a class; repeatable"
    )
    p.add_argument("--weights", metavar="FILE", help="weights of the examples, one number per line")
    p.add_argument("--solver", metavar="NAME", help="auto (default), working-set, agm-inf, agm-1, excessive-gap")
    p.add_argument("--smoothing", metavar="NAME", help="auto (default), primal, dual, decreasing, none")
    p.add_argument("--max-iter", type=int, default=20_000, metavar="N", help="iterations per class (default 20000)")
    p.add_argument("--max-time", type=float, metavar="SECONDS", help="for all classes together (default: no limit)")
    p.add_argument(
        "--threads", type=int, default=1, metavar="N", help="default 1; -1: every core; no effect on results"
    )
    p.add_argument("--features", type=int, metavar="N", help="number of columns (default: the largest index)")
    _add_zero_based(p)
    p.add_argument("--log", metavar="FILE", help="write a JSON line for every iteration")
    p.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def _add_model_options(p: argparse.ArgumentParser) -> None:
    p.formatter_class = argparse.RawDescriptionHelpFormatter
    p.epilog = MODELS_TEXT
    p.add_argument("-c", type=float, metavar="C", help="weight of the sum of the losses (default 1)")
    p.add_argument("--alpha", type=float, metavar="A", help="strength of the penalty (default 1)")
    p.add_argument("--loss", metavar="NAME", help="hinge (default), squared_hinge, smooth_hinge")
    p.add_argument("--penalty", metavar="NAME", help="l2 (default), l1, elasticnet")
    p.add_argument("--l1-ratio", type=float, metavar="R", help="share of L1 in the elastic net (default 0.5)")
    p.add_argument(
        "--multi-class",
        metavar="NAME",
        help="ovr (default): each class against the rest; crammer_singer: all in one problem",
    )
    p.add_argument("--radius", type=float, metavar="R", help="of the ball: gamma |w|_1 + |w|^2/2 <= radius (default 1)")
    p.add_argument("--gamma", type=float, metavar="G", help="weight of the L1 norm in the ball (default 1)")
    p.add_argument(
        "-p", "--epsilon", type=float, metavar="EPS", help="residuals up to this size cost nothing (default 0)"
    )
    p.add_argument("--quantile", type=float, metavar="Q", help="between 0 and 1 (default 0.5, the median)")
    p.add_argument("--beta", type=float, metavar="B", help="weight of recall against precision (default 1)")
    p.add_argument("--k", type=int, metavar="K", help="number of predicted positives")


def _add_predict(p: argparse.ArgumentParser) -> None:
    p.add_argument("data", metavar="DATA", help=_DATA)
    p.add_argument("model", metavar="MODEL")
    p.add_argument(
        "-o", "--output", metavar="OUT", help="write the predictions here, one per line (default: standard output)"
    )
    p.add_argument(
        "--scores", action="store_true", help="after each label, the score of each class (of two classes: one score)"
    )
    _add_zero_based(p)
    p.add_argument("-q", "--quiet", action="store_true", help="do not print how good the predictions are")


def _add_certify(p: argparse.ArgumentParser) -> None:
    p.add_argument("model", metavar="MODEL")
    p.add_argument("data", metavar="DATA", help="the data it was fitted to: " + _DATA)
    p.add_argument(
        "-e", "--tol", type=float, metavar="TOL", help="relative duality gap asked for (default: that of the fit)"
    )
    _add_zero_based(p)
    p.add_argument("-q", "--quiet", action="store_true", help="print errors only: the exit status is the verdict")


def _add_export(p: argparse.ArgumentParser) -> None:
    p.add_argument("model", metavar="MODEL")
    p.add_argument("-o", "--output", metavar="OUT", required=True, help="the file to write")


def _add_demo(p: argparse.ArgumentParser) -> None:
    p.add_argument("-o", "--output", default="minorant-demo", metavar="DIR", help="default ./minorant-demo")


def _add_zero_based(p: argparse.ArgumentParser) -> None:
    p.add_argument("--zero-based", action="store_true", help="indices start at 0 (default: at 1, unless a 0 appears)")
