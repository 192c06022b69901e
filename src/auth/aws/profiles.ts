/** Profiles in the files of the AWS tools. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Surroundings } from "../../core/endpoint.ts";

export interface Profile {
  name: string;
  /** A setting by its name in the files, such as `role_arn`; undefined if it is empty. */
  get(setting: string): string | undefined;
}

/** The name of the profile: the operator's, else `AWS_PROFILE`. */
export function profileName({ variables, env }: Surroundings): string {
  return variables["profile"] || env["AWS_PROFILE"] || "default";
}

/** A profile with the settings of both files; undefined if neither has it. A credentials file precedes a config file. */
export function readProfile(name: string, known: Surroundings): Profile | undefined {
  const { credentials, config } = filesOf(known);
  const inConfig = readSections(config).get(name === "default" ? name : `profile ${name}`);
  const inCredentials = readSections(credentials).get(name);
  if (!inConfig && !inCredentials) return undefined;
  return { name, get: (setting) => inCredentials?.get(setting) || inConfig?.get(setting) || undefined };
}

/** A single sign-on session of the config file. */
export function readSsoSession(name: string, known: Surroundings): ReadonlyMap<string, string> | undefined {
  return readSections(filesOf(known).config).get(`sso-session ${name}`);
}

/** The region of the profile, for the variable `region`. */
export function regionOfProfile(known: Surroundings): string | undefined {
  return readProfile(profileName(known), known)?.get("region");
}

/** The folder with the files of the AWS tools; undefined if there is no home folder. */
export function awsFolder({ env }: Surroundings): string | undefined {
  const home = env["HOME"] || env["USERPROFILE"];
  return home === undefined ? undefined : join(home, ".aws");
}

/** Changes when one of the files changes. */
export function stampOf(known: Surroundings): string {
  const { credentials, config } = filesOf(known);
  return `${stampOfFile(credentials)} ${stampOfFile(config)}`;
}

function filesOf(known: Surroundings): { credentials?: string; config?: string } {
  const folder = awsFolder(known);
  const file = (variable: string, name: string) =>
    known.env[variable] || (folder === undefined ? undefined : join(folder, name));
  return {
    credentials: file("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
    config: file("AWS_CONFIG_FILE", "config"),
  };
}

function readSections(file: string | undefined): Sections {
  if (file === undefined) return new Map();
  try {
    return parseIni(readFileSync(file, "utf8"));
  } catch {
    return new Map();
  }
}

function stampOfFile(file: string | undefined): string {
  const stat = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.ino}:${stat.mtimeMs}:${stat.size}` : "none";
}

/** The settings of each section of an INI file, with names in lower case. */
type Sections = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Reads `~/.aws/credentials` or `~/.aws/config`. Sections of one name are joined. Indented lines belong to a nested setting, which weir does not need. */
export function parseIni(text: string): Sections {
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const header = /^\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) {
      const name = header.replace(/\s+/g, " ").replaceAll('"', "");
      section = sections.get(name) ?? new Map<string, string>();
      sections.set(name, section);
      continue;
    }
    const pair = /^([^\s#;=][^=]*?)\s*=\s*(.*)$/.exec(line);
    if (pair) section?.set(pair[1]!.toLowerCase(), pair[2]!.replace(/(?:^|\s+)[#;].*$/, "").trim());
  }
  return sections;
}
