"""tool_coverage: every tool is triggered once; it passes when it was called and no call of it failed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.contracts import ScoringContext, Target
from core.evaluation.arguments import argument_problems
from core.evaluation.audit import AuditScoring, TestOutcome, concluded, unanswered, worst_of
from core.evaluation.rag_quality import check
from core.evaluation.shapes import ToolCoverageSpec
from core.records import Case, Check, Output, Result, Verdict


class ToolCoverage:
    """One case a tool."""

    def __init__(self, spec: ToolCoverageSpec, scoring: AuditScoring) -> None:
        self.spec, self.scoring = spec, scoring

    def propose(self, target: Target) -> list[Case]:
        """The first of: the test's trigger prompt, the tool's own, a generated one."""
        return [
            Case(
                id=f"{self.spec.name}/{tool.name}",
                query=self.spec.trigger_prompts.get(tool.name)
                or getattr(tool, "trigger_prompt", None)
                or f"Please use the tool '{tool.name}' now. {getattr(tool, 'description', '')}".strip(),
                test=self.spec.name,
                evaluator="tool_coverage",
                options={"tool": tool.name, "parameters": dict(getattr(tool, "parameters", None) or {})},
            )
            for tool in target.tools
            if tool.name not in self.spec.forbidden_tools
        ]

    def evaluate(self, case: Case, output: Output, context: ScoringContext) -> Result:
        """An exception or time-out of the agent on a probe is FAIL; a transport fault is ERROR."""
        name = str(case.options["tool"])
        if output.failure is not None and output.failure.kind in ("exception", "timeout"):
            made = check("fired", False, f"the agent failed: {output.failure.message}")
            return concluded(
                case,
                output,
                [made],
                artifacts={"tool": name, "fired": False, "error": output.failure.message},
            )
        error = unanswered(case, output)
        if error:
            return error
        calls = [call for call in output.tool_calls if call.name == name]
        errors = [call.error for call in calls if call.error]
        latency = max((call.latency_ms for call in calls if call.latency_ms is not None), default=None)
        checks = [check("fired", bool(calls), f"'{name}' was not called")]
        if calls:
            checks.append(check("no_error", not errors, f"'{name}' failed: {'; '.join(map(str, errors))}"))
            checks += self._arguments(name, case, [call.args for call in calls])
            if self.spec.max_latency_ms is not None and latency is not None:
                good = latency <= self.spec.max_latency_ms
                checks.append(
                    check(
                        "max_latency_ms", good, f"took {latency:.0f} ms (limit {self.spec.max_latency_ms:g})"
                    )
                )
        forbidden = sorted({call.name for call in output.tool_calls} & set(self.spec.forbidden_tools))
        if self.spec.forbidden_tools:
            checks.append(check("forbidden_tools", not forbidden, f"called {', '.join(forbidden)}"))
        artifacts = {
            "tool": name,
            "fired": bool(calls),
            "error": errors[0] if errors else None,
            "latency_ms": latency,
        }
        return concluded(case, output, checks, artifacts=artifacts)

    def _arguments(self, name: str, case: Case, given: Sequence[Mapping[str, Any]]) -> Iterator[Check]:
        schema = self.spec.required_args.get(name) or case.options.get("parameters")
        if schema:
            wrong = [problem for args in given for problem in argument_problems(schema, args)]
            yield check(
                "required_args", not wrong, f"arguments of '{name}': {'; '.join(dict.fromkeys(wrong))}"
            )

    def conclude(self, cases: Sequence[Case], results: Sequence[Result]) -> TestOutcome:
        """No tools: ERROR. With `require_all_tools: false` one passing tool is enough."""
        rows = [
            {
                "tool": result.artifacts.get("tool", result.case_id.rsplit("/", 1)[-1]),
                "fired": bool(result.artifacts.get("fired", False)),
                "error": result.artifacts.get("error")
                or (result.failure.message if result.failure else None)
                or (None if result.artifacts.get("fired") else "tool was not called"),
                "latency_ms": result.artifacts.get("latency_ms"),
                "verdict": result.verdict.value,
                "detail": "; ".join(result.reasons),
            }
            for result in results
        ]
        if not results:
            return TestOutcome(Verdict.ERROR, "the system exposes no tools", {}, {"per_tool": []})
        verdict, detail = worst_of(results, "tools")
        good = sum(result.verdict is Verdict.PASS for result in results)
        if not self.spec.require_all_tools and good:
            verdict = Verdict.PASS
        metrics = {
            "tools_total": float(len(results)),
            "tools_passed": float(good),
            "coverage": good / len(results),
        }
        return TestOutcome(verdict, detail, metrics, {"per_tool": rows})
