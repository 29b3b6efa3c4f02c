"""``deltatape demo``: a real model continues a text, plainly and speculating, to the same bytes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import deltatape
from deltatape.cli.rounds import RoundPrinter
from deltatape.cli.table import show_table
from deltatape.demo.decode import Round, decode, text_of
from deltatape.demo.drafter import no_drafts, prompt_lookup
from deltatape.demo.hybrid import Hybrid

DEFAULT_MODULE, DEFAULT_BYTES = "selectors", 4096


def add_parser(verbs: Any) -> None:
    """Declare the verb's options."""
    parser = verbs.add_parser("demo", help="decode with a small model, plainly and speculating")
    option = parser.add_argument
    option(
        "--prompt", metavar="FILE", type=prompt_file, help="what to continue (Python's own source)"
    )
    option(
        "--tokens", metavar="N", type=positive, default=600, help="how many to add (%(default)s)"
    )
    option(
        "--draft", metavar="K", type=positive, default=7, help="most drafts a round (%(default)s)"
    )
    option("--device", metavar="NAME", help="cpu, metal, cuda or auto")
    option("--json", action="store_true", help="print one JSON object and no text")
    parser.set_defaults(run=run)


def positive(word: str) -> int:
    """Read a number of 1 or more."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of 1 or more, got {word!r}")
    return int(word)


def prompt_file(name: str) -> bytes:
    """Read a file that is not empty."""
    try:
        prompt = Path(name).read_bytes()
    except OSError as error:
        raise argparse.ArgumentTypeError(f"expected a readable file, got {error}") from error
    if not prompt:
        raise argparse.ArgumentTypeError(f"expected a file that is not empty, got {name!r}")
    return prompt


def default_prompt() -> bytes:
    """Return the beginning of a module of the standard library."""
    found = find_spec(DEFAULT_MODULE)
    source = Path(found.origin or "") if found else Path()
    if source.suffix != ".py" or not source.is_file():
        raise deltatape.InvalidArgument(
            "[demo] --prompt: expected a file, since this Python comes without its library's source"
        )
    return source.read_bytes()[:DEFAULT_BYTES]


def run(arguments: argparse.Namespace) -> int:
    """Return 0 if both ways of decoding gave the same text, else 1."""
    prompt = default_prompt() if arguments.prompt is None else arguments.prompt
    with deltatape.Device(arguments.device) as device, device.stream() as stream:
        model = Hybrid(device, stream)
        sessions = model.prefill(prompt[:-1])
        rounds = decode(model, sessions, prompt, arguments.tokens, prompt_lookup, arguments.draft)
        speculative = list(rounds if arguments.json else shown(rounds))
        plain = list(decode(model, sessions, prompt, arguments.tokens, no_drafts, 0))
        report = compare(device.name, plain, speculative)
    if arguments.json:
        print(json.dumps(report))
    else:
        show(report)
    return 0 if report["identical"] else 1


def shown(rounds: Iterator[Round]) -> Iterator[Round]:
    """Pass rounds on, and print each as it comes."""
    printer = RoundPrinter()
    printer.write(f"The model's own tokens, and {printer.marked('drafts that it accepted')}:\n\n")
    for found in rounds:
        printer.show(found)
        yield found
    printer.write("\n\n")


def compare(device: str, plain: list[Round], speculative: list[Round]) -> dict[str, Any]:
    """Set the two ways of decoding side by side; bytes are those of the largest round."""
    text = text_of(speculative)
    return {
        "device": device,
        "text": text.decode("latin-1"),
        "identical": text == text_of(plain),
        "drafted": sum(each.drafted for each in speculative),
        "accepted": sum(len(each.accepted) for each in speculative),
        "rounds": len(speculative),
        "tokens": len(text),
        "tape_bytes": max(each.tape_bytes for each in speculative),
        "snapshot_bytes": max(each.snapshot_bytes for each in speculative),
        "plain_seconds": sum(each.seconds for each in plain),
        "speculative_seconds": sum(each.seconds for each in speculative),
    }


def show(report: dict[str, Any]) -> None:
    """Print what the speculation was worth."""
    drafted, accepted, tokens = (report[key] for key in ("drafted", "accepted", "tokens"))
    rows = (
        ("rounds", f"{tokens}", f"{report['rounds']}"),
        ("tokens a forward pass", "1.00", f"{tokens / report['rounds']:.2f}"),
        ("drafts kept of drafted", "", f"{accepted} of {drafted}"),
        ("bytes of tape, at most", "", f"{report['tape_bytes']:,}"),
        ("bytes of snapshots instead", "", f"{report['snapshot_bytes']:,}"),
        ("seconds", f"{report['plain_seconds']:.2f}", f"{report['speculative_seconds']:.2f}"),
    )
    show_table(f"deltatape demo on {report['device']}", ("", "plain", "speculating"), rows)
    same = "The two texts are the same." if report["identical"] else "THE TWO TEXTS DIFFER."
    print(same)
