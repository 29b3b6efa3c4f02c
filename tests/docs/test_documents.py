"""What the documents show runs, and what they link to is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
SNIPPETS = [
    pytest.param(block, id=f"{document.name}-{number}")
    for document in DOCUMENTS
    for number, block in enumerate(BLOCK.findall(document.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_snippets_run(snippet: str) -> None:
    exec(compile(snippet, "snippet", "exec"), {})


def test_the_readme_rolls_back_in_fifteen_lines() -> None:
    block = BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))
    assert block is not None
    assert "ssm_replay" in block[1]
    assert len([line for line in block[1].splitlines() if line.strip()]) <= 15


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in LINK.findall(document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target
