/** What the config says of Claude Code, and its faults that a schema cannot express. */
import { type Fault, faultAt, type Path } from "../../../config/error.ts";
import { headerFault } from "../../../config/sections/kinds.ts";
import { isLoopback } from "../../../core/host-names.ts";
import { isObject } from "../../../core/json.ts";
import { pathFault } from "../../../ledger/keys/path.ts";
import type { ClaudeCodeConfig } from "../own/declarations.ts";
import type { IdentityConfig } from "../declarations.ts";

const AT: Path = ["identity", "clients", "claude-code"];

/** A tag of a call is `NAME:VALUE`. */
const TAG = /^[A-Za-z0-9][\w.-]{0,31}$/;

/** @returns undefined: people may not sign in with Claude Code */
export function claudeCodeOf({ clients }: Pick<IdentityConfig, "clients">): ClaudeCodeConfig | undefined {
  const written = clients["claude-code"];
  if (written === false) return undefined;
  return written === true ? {} : written;
}

/** @param clients as the file contains them */
export function claudeCodeFaults(clients: Partial<IdentityConfig["clients"]> | undefined): Fault[] {
  const written = clients?.["claude-code"];
  if (!isObject(written)) return [];
  const { settings = {}, tag, telemetry, telemetryHeaders = {} } = written as ClaudeCodeConfig;
  return [
    ...Object.entries(settings).flatMap(([path, own]) =>
      settingsFaults([...AT, "settings", path], path, own),
    ),
    ...faultAt(
      [...AT, "tag"],
      tag === undefined || TAG.test(tag)
        ? undefined
        : "tag must begin with a letter or digit and consist of at most 32 letters, digits and `._-`",
    ),
    ...faultAt([...AT, "telemetry"], telemetry === undefined ? undefined : addressFault(telemetry)),
    ...Object.entries(telemetryHeaders).flatMap(([name, value]) =>
      faultAt([...AT, "telemetryHeaders", name], headerFault(name, String(value))),
    ),
  ];
}

function settingsFaults(at: Path, path: string, own: unknown): Fault[] {
  const clause = pathFault(path);
  return [
    ...faultAt(at, clause === undefined ? undefined : `a path of settings ${clause}`),
    ...faultAt(at, isFinite(own) ? undefined : "settings must not contain a number that JSON cannot have"),
  ];
}

/** YAML has `.inf` and `.nan`. */
function isFinite(value: unknown): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.values(value).every(isFinite);
}

function addressFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return "telemetry must be a URL that begins with https://";
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    return "telemetry must be an address without a user name, a query or a fragment";
  if (url.protocol === "https:" || isLoopback(url.hostname)) return undefined;
  return "telemetry must begin with https://; http:// is for addresses of this machine only";
}
