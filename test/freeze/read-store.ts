/** Reads the store of an earlier release, which old-store.ts has made. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "bun";
import { runCommand } from "../helpers/command.ts";

const COMMANDS = [
  ["keys", "list", "--json"],
  ["budgets", "list", "--json"],
  ["logs", "--last", "500", "--json"],
  ["usage", "--since", "2026-01-01", "--by", "key,model", "--json"],
  ["audit", "log", "--json"],
  ["audit"],
];

/** Times that follow from today. */
const PASSING = /"(since|refusedFrom|pace|perDay)": [\d.]+/g;

/** @param packed file with the state folder @returns the commands, and what they print */
export async function readOldStore(packed: string): Promise<string> {
  const state = mkdtempSync(join(tmpdir(), "weir-old-store-"));
  const files = JSON.parse(new TextDecoder().decode(gunzipSync(readFileSync(packed)))) as Record<
    string,
    string
  >;
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(state, name), Uint8Array.fromBase64(content), { mode: 0o600 });
  try {
    const printed: string[] = [];
    for (const command of COMMANDS) {
      const { code, out, err } = await runCommand([...command, "--state", state], { cwd: state });
      printed.push(
        `$ weir ${command.join(" ")} (exit ${code})\n${out}${err}`
          .replaceAll(state, "STATE")
          .replace(PASSING, '"$1": 0'),
      );
    }
    return printed.join("\n");
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}
