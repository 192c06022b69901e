/** The section of a config, as a gateway loads it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../../config/load.ts";
import type { IdentityConfig } from "../../declarations.ts";
import { identitySection } from "../../section.ts";

/** @param env for variables in it @throws ConfigError */
export function loadSection(identity: object, env: Readonly<Record<string, string>> = {}): IdentityConfig {
  const cwd = mkdtempSync(join(tmpdir(), "weir-identity-"));
  try {
    writeFileSync(join(cwd, "weir.yaml"), JSON.stringify({ identity }));
    return identitySection.of(loadConfig({ env, cwd, sections: [identitySection] }).config);
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** Why a config is refused; undefined if it is not. */
export function faultOf(identity: object): string | undefined {
  try {
    loadSection(identity);
    return undefined;
  } catch (fault) {
    return (fault as Error).message;
  }
}
