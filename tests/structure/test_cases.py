"""Every field case that has an interface is a test which carries its id."""

import ast
from pathlib import Path

CASES = Path(__file__).parents[1] / "cases"

# Less those that await an interface, and K4, K5, K6, K7, K10 and K14, which are Metal's own.
REQUIRED = {
    "rollback": "R1 R2 R3 R4 R6 R7 R8 R9 R10 R11 R12 R13 R15 R16 R17 R21 R22 R23",
    "masks and padding": "M1 M2 M3 M4 M6 M7 M8 M9",
    "dt, A, range and dtype": "N5 N6 N8 N9 N10 N11 N13 N14",
    "heads, groups, odd sizes": "G1 G2 G3 G4 G6",
    "sizes, indices, sequences": "V1 V2 V3 V4 V5 V6 V8",
    "inverses": "S1 S2 S3 S4 S5 S7 S8 S9 S10 S12 S14",
    "every device": "K1 K2 K3 K8 K9 K11 K12",
    "arrays": "P1 P2 P3 P5 P7 P8 P9",
}


def ids_of_tests() -> set[str]:
    """The ids in test_<id>_<behaviour>."""
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in CASES.glob("test_*.py"))
    names = (node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef))
    return {name.split("_")[1].upper() for name in names if name.startswith("test_")}


def test_no_case_lacks_a_test() -> None:
    required = {each for row in REQUIRED.values() for each in row.split()}
    assert sorted(required - ids_of_tests()) == []


def test_every_test_names_a_case() -> None:
    required = {each for row in REQUIRED.values() for each in row.split()}
    assert sorted(ids_of_tests() - required) == []
