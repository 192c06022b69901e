/** The install script of a release, which knows the repository that it downloads from. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const UNSET = '\nREPOSITORY=""\n';

/** @param repository `OWNER/NAME` on GitHub; without it, users have to set `WEIR_DOWNLOAD_URL` */
export function installScript(root: string, repository: string | undefined): string {
  const script = readFileSync(join(root, ".github/install.sh"), "utf8");
  if (repository === undefined) return script;
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository))
    throw new Error(`GITHUB_REPOSITORY is "${repository}", but must be OWNER/NAME.`);
  if (!script.includes(UNSET)) throw new Error(".github/install.sh has no line for its repository.");
  return script.replace(UNSET, `\nREPOSITORY="${repository}"\n`);
}
