/** The systems that weir is built and released for. */

export const SYSTEMS = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
  "windows-x64",
] as const;

export type System = (typeof SYSTEMS)[number];

/** The name of the executable that the build writes to `dist`. */
export function binaryName(system: System): string {
  return `weir-${system}${isWindows(system) ? ".exe" : ""}`;
}

/** The name of the archive. It has no version, so that `releases/latest/download/NAME` leads to it. */
export function archiveName(system: System): string {
  return `weir-${system}${isWindows(system) ? ".zip" : ".tar.gz"}`;
}

export function isWindows(system: System): boolean {
  return system.startsWith("windows");
}

/** @throws Error with the list of systems if a name is none of them */
export function systemsOf(names: readonly string[]): System[] {
  const unknown = names.find((name) => !SYSTEMS.includes(name as System));
  if (unknown !== undefined)
    throw new Error(`Unknown system "${unknown}"; use one of ${SYSTEMS.join(", ")}, or --all.`);
  return names as System[];
}
