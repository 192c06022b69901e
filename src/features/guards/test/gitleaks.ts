/** The Go program gitleaks, whose rules weir has: built from its module, with the values of its own tests. */
import { chmodSync, cpSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const GITLEAKS = "github.com/zricethezav/gitleaks/v8@v8.30.1";

/** Writes the values of its tests in place of checking them. */
const VALIDATE = `package utils

import (
	"encoding/json"
	"os"

	"github.com/zricethezav/gitleaks/v8/config"
)

func write(value string) {
	f, _ := os.OpenFile(os.Getenv("WEIR_VALUES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0600)
	defer f.Close()
	line, _ := json.Marshal(value)
	f.Write(append(line, 10))
}

func Validate(rule config.Rule, truePositives []string, falsePositives []string) *config.Rule {
	for _, value := range append(truePositives, falsePositives...) {
		write(value)
	}
	return &rule
}

func ValidateWithPaths(rule config.Rule, truePositives map[string]string, falsePositives map[string]string) *config.Rule {
	return &rule
}
`;

export interface Reported {
  readonly RuleID: string;
  readonly Secret: string;
  readonly File: string;
}

export class Gitleaks {
  readonly #folder: string;
  readonly #program: string;
  readonly module: string;

  private constructor(folder: string, module: string) {
    this.#folder = folder;
    this.module = module;
    this.#program = join(folder, "gitleaks");
  }

  /** @returns undefined: there is no Go, or no way to the module */
  static async build(folder: string): Promise<Gitleaks | undefined> {
    if (!Bun.which("go")) return undefined;
    const known = await run(["go", "mod", "download", "-json", GITLEAKS], folder);
    if (known.code !== 0) return undefined;
    const { Dir: downloaded } = JSON.parse(known.out) as { Dir: string };
    const module = join(folder, "module");
    cpSync(downloaded, module, { recursive: true });
    writable(module);
    const built = await run(["go", "build", "-o", join(folder, "gitleaks"), "."], module);
    if (built.code !== 0) throw new Error(built.err);
    return new Gitleaks(folder, module);
  }

  /** The values of its tests, those that hold secrets and those that do not. */
  async values(): Promise<string[]> {
    const generator = join(this.module, "cmd/generate/config");
    writeFileSync(join(generator, "utils/validate.go"), VALIDATE);
    const file = join(this.#folder, "values.jsonl");
    const env = { ...process.env, WEIR_VALUES: file };
    const made = await run(["go", "run", ".", join(this.#folder, "made.toml")], generator, env);
    if (made.code !== 0) throw new Error(made.err);
    return (await Bun.file(file).text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as string);
  }

  /** What it finds in the files of a folder. It decodes nothing: that is not what its rules say. */
  async find(files: string): Promise<Reported[]> {
    const report = join(this.#folder, "report.json");
    const options = ["--report-format", "json", "--report-path", report, "--max-decode-depth", "0"];
    const more = ["--ignore-gitleaks-allow", "--no-banner", "--exit-code", "0"];
    const done = await run([this.#program, "dir", files, ...options, ...more], this.#folder);
    if (done.code !== 0) throw new Error(done.err);
    return JSON.parse(await Bun.file(report).text()) as Reported[];
  }
}

async function run(command: string[], cwd: string, env: NodeJS.ProcessEnv = process.env) {
  const child = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, err };
}

/** Go keeps modules so that they cannot be written. */
function writable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) writable(path);
    else chmodSync(path, 0o644);
  }
}

/** Writes texts as files whose names mean nothing to it. */
export function writeFiles(folder: string, texts: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  for (const [at, text] of texts.entries()) writeFileSync(join(folder, `${at}.txt`), text);
}

const LONGEST_FILE = 60_000;
const TEXT = /\.(?:ts|js|mjs|cjs|json|md|go|ya?ml|toml|py|sh|txt|html|css|mod|sum)$/;

/** Texts of source files below a folder, of each folder a few. */
export function sourceTexts(folder: string, most: number): string[] {
  const texts: string[] = [];
  const folders = [folder];
  for (let at = 0; at < folders.length && texts.length < most; at++) {
    let own = 0;
    for (const entry of readdirSync(folders[at]!, { withFileTypes: true })) {
      const path = join(folders[at]!, entry.name);
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isFile() || own === 6 || !TEXT.test(entry.name) || statSync(path).size > LONGEST_FILE)
        continue;
      texts.push(readFileSync(path, "utf8"));
      own++;
    }
  }
  return texts.slice(0, most);
}
