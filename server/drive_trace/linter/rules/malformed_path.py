r"""A path is absolute, leaves the repository, or has backslashes.

The path of a spec or plan starts at the root of the repository, with `/` between its parts.
From the root of a disk, from somebody's home or from above the repository it means nothing on
another machine; with backslashes it is another file to readers that compare paths, and the file's
history falls apart.

**Fix.** Backslashes are suggested to be slashes. Where the repository begins in an absolute path,
only the writer knows.

Examples:
EVENT{"event_type":"plan-authored","plan_path":"projects\\cart\\plan.md"}
                                               ^^^^^^^^^^^^^^^^^^^^^^^^^
=>
EVENT{"event_type":"plan-authored","plan_path":"projects/cart/plan.md"}
---
EVENT{"event_type":"spec-authored","spec_path":"/home/ada/shop/projects/cart/spec.md"}
                                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"falsified-assumption","artifact_path":"../shop/projects/cart/spec.md"}
                                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
---
EVENT{"event_type":"spec-authored","spec_path":"./projects/cart/spec.md"}
EVENT{"event_type":"spec-authored","spec_path":".agents/specs/..cart.md"}
EVENT{"event_type":"falsified-assumption","artifact_path":"projects/cart/spec.md § 3"}
"""

from drive_trace.linter.edits import say_in_type
from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    meant = str(subject.diagnostic.found).replace("\\", "/")
    yield subject.malformed(RULE)._replace(expected=meant)


RULE = Rule(Severity.INFORMATION, _check, fixes=say_in_type, sums="paths in this field are odd")
