/** Starts weir and points the later steps of the job at it. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { install, start } from "./gateway.mjs";
import { addToPath, annotate, input, tell } from "./runner.mjs";

/** For SDKs, which refuse to start without a key. */
const KEY = "weir";

/**
 * The variables in which SDKs and programs read the address of their vendor and its key: those of src/cli/clients/sdk.ts. The
 * runner executes this file without a build.
 * @param {string} url
 */
function variables(url) {
  return {
    WEIR_URL: url,
    WEIR_API_KEY: KEY,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_BASE: `${url}/v1`,
    OPENAI_API_KEY: KEY,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_BASE: url,
    ANTHROPIC_API_KEY: KEY,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_BASE: url,
    GEMINI_API_KEY: KEY,
    GOOGLE_API_KEY: KEY,
    OLLAMA_HOST: url,
    OLLAMA_API_BASE: url,
    OLLAMA_API_KEY: KEY,
  };
}

function argumentsOf() {
  const [tape, config, port] = [input("tape"), input("config"), input("port")];
  return [
    ...(tape ? ["replay", tape] : ["serve"]),
    ...(config ? ["--config", config] : []),
    // The job keeps nothing, unless its config says so.
    ...(tape || config ? [] : ["--state", "none"]),
    ...["--port", port || "0", "--log-format", "json"],
  ];
}

try {
  const folder = mkdtempSync(join(process.env.RUNNER_TEMP ?? tmpdir(), "weir-"));
  const given = input("executable");
  const program = given ? resolve(given) : install(input("version"), folder);
  addToPath(dirname(program));
  const log = join(folder, "weir.log");
  const { pid, url } = await start(program, argumentsOf(), log);
  tell("GITHUB_STATE", { pid: String(pid), log });
  tell("GITHUB_OUTPUT", { url, log });
  tell("GITHUB_ENV", variables(url));
  console.log(`weir listens on ${url}. Its log is ${log}.`);
} catch (cause) {
  annotate(cause instanceof Error ? cause.message : String(cause));
  process.exitCode = 1;
}
