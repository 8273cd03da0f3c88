"""Running a script of a workflow's github-script step in Node, against a made-up GitHub."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import playwright
from requests_case import workflow

NODE = Path(playwright.__file__).parent / "driver" / "node"
"""Node as Playwright brings it."""

_HARNESS = """
const { script, context, answers, env } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const calls = [];
function method(name) {
  return async (options) => {
    const known = answers[name];
    const answer = Array.isArray(known) && known.length > 0 && known[0].when !== undefined
      ? known.find((each) => JSON.stringify(each.when) === JSON.stringify(options[each.by]))
      : { data: known ?? {} };
    if (!answer || answer.status) {
      throw Object.assign(new Error(`${name} failed`), { status: answer?.status ?? 404 });
    }
    calls.push({ name, options });
    return { data: answer.data };
  };
}
const group = (prefix) => new Proxy({}, {
  get: (_, name) => {
    const call = method(`${prefix}.${name}`);
    call.paged = true;
    return call;
  },
});
const github = {
  rest: new Proxy({}, { get: (_, name) => group(name) }),
  paginate: async (call, options) => (await call(options)).data,
};
const outputs = {};
const notices = [];
const core = {
  setOutput: (name, value) => { outputs[name] = value; },
  notice: (text) => notices.push(text),
};
Object.assign(process.env, env);
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
new AsyncFunction('github', 'context', 'core', 'require', script)(github, context, core, require)
  .then(() => null, (error) => String(error.message))
  .then((error) => console.log(JSON.stringify({ calls, outputs, notices, error })));
"""


@dataclass(frozen=True)
class Ran:
    """What a script did.

    Attributes:
        calls: (name, options) of every call of the interface that succeeded.
        outputs: outputs it set.
        notices: notices it gave.
        error: message of what it threw; None if nothing.
    """

    calls: list[tuple[str, dict[str, Any]]]
    outputs: dict[str, str]
    notices: list[str]
    error: str | None

    def of(self, name: str) -> list[dict[str, Any]]:
        """Options of every call of one name."""
        return [options for called, options in self.calls if called == name]


def run_script(
    file: str,
    job: str,
    step: str,
    *,
    context: dict[str, Any],
    answers: dict[str, Any],
    env: dict[str, str] | None = None,
    folder: Path | None = None,
) -> Ran:
    """Run one step's script.

    Args:
        file, job, step: which; the step by its name.
        context: what the event brought.
        answers: what the interface says by "group.method"; a list of
            ``{"by": option, "when": value, "data" | "status": …}`` depends on an option.
        env: environment of the step.
        folder: where it runs.
    """
    steps = workflow(file)["jobs"][job]["steps"]
    (script,) = [each["with"]["script"] for each in steps if each.get("name") == step]
    given = {"script": script, "context": context, "answers": answers, "env": env or {}}
    done = subprocess.run(
        [str(NODE), "-e", _HARNESS],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    calls = [(each["name"], each["options"]) for each in found["calls"]]
    return Ran(calls, found["outputs"], found["notices"], found["error"])
