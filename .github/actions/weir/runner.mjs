/** What an action and the runner tell each other. https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands */
import { appendFileSync } from "node:fs";
import { randomUUID } from "node:crypto";

/** @param {string} name @returns {string} the input, or an empty text */
export function input(name) {
  return (process.env[`INPUT_${name.toUpperCase()}`] ?? "").trim();
}

/**
 * Appends lines to a file of the runner.
 * @param {"GITHUB_ENV" | "GITHUB_OUTPUT" | "GITHUB_STATE"} file
 * @param {Record<string, string>} values texts without line breaks
 */
export function tell(file, values) {
  const path = process.env[file];
  if (!path) throw new Error(`${file} is not set: this is no runner of GitHub.`);
  for (const [name, value] of Object.entries(values)) appendFileSync(path, `${name}=${value}\n`);
}

/** @param {string} path folder of an executable for later steps */
export function addToPath(path) {
  appendFileSync(process.env.GITHUB_PATH ?? "", `${path}\n`);
}

/** An error that the page of the run shows. @param {string} message */
export function annotate(message) {
  const escaped = message.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  console.log(`::error title=weir::${escaped}`);
}

/** Prints a text folded. A line of it that looks like a command is none. @param {string} title @param {string} text */
export function printGroup(title, text) {
  const token = randomUUID();
  console.log(`::group::${title}\n::stop-commands::${token}\n${text.trimEnd()}\n::${token}::\n::endgroup::`);
}
