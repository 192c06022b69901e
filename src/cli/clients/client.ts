/** A row of the table of clients. */

/** Variables by name; undefined removes one that the user has set. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The gateway that a client is pointed at. */
export interface GatewayAddress {
  /** `http://127.0.0.1:9347`, without a trailing slash. */
  url: string;
  /** A gateway key, or any text for a gateway without keys: SDKs refuse to start without one. */
  key: string;
  /** The model that the client must ask for; absent: the client keeps its own. */
  model?: string;
}

/** The subject of a row. */
export interface Aim extends GatewayAddress {
  /** The folder of {@link KnownClient.files}. */
  folder: string;
  /** The environment of the user. */
  user: Variables;
}

/**
 * A command-line program and how it is pointed at a gateway, beside the variables of the SDKs that every command gets. Flags
 * are in front of the user's own, and the program must prefer the last one, so that the user's win.
 */
export interface KnownClient {
  /** `Claude Code`. */
  name: string;
  /** Base names of its program: `claude`. */
  commands: readonly string[];
  /** Its packages, as `npx`, `bunx` or `uvx` name them: `@anthropic-ai/claude-code`. */
  packages: readonly string[];
  env?(aim: Aim): Variables;
  /** Flags behind the name of the program. */
  args?(aim: Aim): readonly string[];
  /** Files by path, in a folder that exists while the client runs. Only the user can read them. */
  files?(aim: Aim): Readonly<Record<string, string>>;
  /** Links in that folder, by name, to files and folders of the user. */
  links?(aim: Aim): Readonly<Record<string, string>>;
  /** Models that the client asks for although it was given another one, for titles or summaries. */
  asksAlso?: readonly string[];
}
