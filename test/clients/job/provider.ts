/**
 * A provider that plays the model of a job of four turns: it reads two files at once, edits one, runs the test, and says so.
 * It goes on only when the request holds what the turn before must have brought: the results of its calls, in order, and
 * the reasoning of all earlier turns.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "../../../src/core/json.ts";
import { type Answer, json } from "../../helpers/upstream.ts";
import {
  type Asked,
  type Call,
  type Declared,
  type Language,
  REASONING,
  sealOf,
  type Turn,
} from "./language.ts";
import { LANGUAGES } from "./languages.ts";
import { CLOUD_LANGUAGES } from "./languages-clouds.ts";

/** The files of the job; the test fails until `calc.py` is edited. */
export const FILES: Readonly<Record<string, string>> = {
  "calc.py": "def add(a, b):\n    return a - b\n",
  "test_calc.py": 'from calc import add\n\nassert add(2, 3) == 5\nprint("1 test passed")\n',
};

export const TASK = "Fix calc.py so that test_calc.py passes. Run the test.";
/** What the model says last. */
export const DONE = "The test passes now.";

const FIXED = "    return a + b  # fixed";
const PATCH = [
  "*** Begin Patch",
  "*** Update File: calc.py",
  "@@",
  " def add(a, b):",
  "-    return a - b",
  `+${FIXED}`,
  "*** End Patch",
].join("\n");

/** What a run of the job has shown. */
export interface JobReport {
  /** Turns of the job that the client went through. */
  turns: number;
  /** What a request lacked; the provider refuses it. */
  faults: string[];
  /** Earlier turns whose reasoning the last request held. */
  reasoning: number;
}

export interface JobProvider {
  answer(body: JsonObject, path: string): Answer;
  report: JobReport;
}

/** What the provider says in a format. @param format its id */
export function jobLanguage(format: string): Language {
  return { ...LANGUAGES, ...CLOUD_LANGUAGES }[format]!;
}

/** @param format id of the format that the provider speaks @param folder with the files of the job */
export function jobProvider(format: string, folder: string): JobProvider {
  const language = jobLanguage(format);
  const report: JobReport = { turns: 0, faults: [], reasoning: 0 };
  return {
    report,
    answer(body, path) {
      try {
        const asked = language.read(body, path);
        // A client that wants a title of the conversation declares no tools.
        if (asked.tools.length === 0)
          return language.write({ number: 9, reasoning: "", text: "A job", calls: [] }, asked.stream);
        const turn = { ...nextTurn(asked, folder), model: asked.model };
        report.turns = turn.number + 1;
        report.reasoning = asked.reasoning.length;
        return language.write(turn, asked.stream);
      } catch (thrown) {
        const { message } = thrown as Error;
        report.faults.push(message);
        return json({ error: { message, type: "invalid_request_error", code: null, param: null } }, 400);
      }
    },
  };
}

/** The turn after these results. @throws Error if the request lacks something */
function nextTurn({ tools, results, reasoning }: Asked, folder: string): Turn {
  const number = TURN_BY_RESULTS[results.length];
  if (number === undefined) throw new Error(`${results.length} results are no state of the job`);
  const wrong = reasoning.find((seal, turn) => seal !== sealOf(turn));
  if (wrong !== undefined) throw new Error(`the reasoning of an earlier turn came back as ${wrong}`);
  const call = (position: number, tool: Declared, input: string | JsonObject): Call => ({
    id: `call_t${number}_${position}`,
    name: tool.name,
    kind: tool.kind,
    input: typeof input === "string" ? input : JSON.stringify(input),
  });
  const demand = (text: string | undefined, wanted: string) => {
    if (!text?.includes(wanted)) throw new Error(`turn ${number} lacks "${wanted}": ${text?.slice(0, 200)}`);
  };
  switch (number) {
    case 0:
      return {
        number,
        reasoning: REASONING[0],
        text: "I look at both files.",
        calls: Object.keys(FILES).map((path, position) => call(position, ...readCall(tools, folder, path))),
      };
    case 1:
      demand(results[0], "return a - b");
      demand(results[1], "assert add(2, 3) == 5");
      return { number, reasoning: REASONING[1], calls: [call(0, ...editCall(tools, folder))] };
    case 2:
      demand(readFileSync(join(folder, "calc.py"), "utf8"), FIXED);
      return {
        number,
        reasoning: REASONING[2],
        text: "I run the test.",
        calls: [call(0, ...runCall(tools, "python3 test_calc.py"))],
      };
    default:
      demand(results[3], "1 test passed");
      return { number, reasoning: REASONING[3], text: DONE, calls: [] };
  }
}

const TURN_BY_RESULTS: readonly (number | undefined)[] = [0, undefined, 1, 2, 3];

type Made = [tool: Declared, input: string | JsonObject];

/** The first of these tools that the client has. */
function choose(
  tools: readonly Declared[],
  makers: Readonly<Record<string, (tool: Declared) => string | JsonObject>>,
): Made {
  for (const [name, make] of Object.entries(makers)) {
    const tool = tools.find((declared) => declared.name === name);
    if (tool) return [tool, make(tool)];
  }
  const names = tools.map(({ name }) => name).join(", ");
  throw new Error(`the client has none of ${Object.keys(makers).join(", ")}, but ${names}`);
}

const inShell = (command: string) => ({
  exec_command: () => ({ cmd: command }),
  shell: () => ({ command: ["bash", "-lc", command] }),
  bash: () => ({ command, description: command }),
  Bash: () => ({ command, description: command }),
  run_command: () => ({ command }),
  run_shell_command: () => ({ command, description: command }),
});

function readCall(tools: readonly Declared[], folder: string, path: string): Made {
  return choose(tools, {
    read_file: ({ properties }) => (properties["file_path"] ? { file_path: path } : { path }),
    read: ({ properties }) => (properties["filePath"] ? { filePath: join(folder, path) } : { path }),
    view: () => ({ path: join(folder, path) }),
    Read: () => ({ file_path: join(folder, path) }),
    ...inShell(`cat ${path}`),
  });
}

function editCall(tools: readonly Declared[], folder: string): Made {
  return choose(tools, {
    apply_patch: ({ kind, properties }) =>
      kind === "custom" ? PATCH : { [Object.keys(properties)[0] ?? "input"]: PATCH },
    Edit: () => ({
      file_path: join(folder, "calc.py"),
      old_string: "    return a - b",
      new_string: FIXED,
    }),
    edit: () => ({ path: "calc.py", edits: [{ oldText: "    return a - b", newText: FIXED }] }),
    write_file: ({ properties }) => ({
      [properties["file_path"] ? "file_path" : "path"]: "calc.py",
      content: `def add(a, b):\n${FIXED}\n`,
    }),
    ...inShell(`sed -i 's/^    return .*/${FIXED}/' calc.py`),
  });
}

const runCall = (tools: readonly Declared[], command: string): Made => choose(tools, inShell(command));
