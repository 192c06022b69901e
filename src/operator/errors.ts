/** The errors of the admin API: a status, a code for programs and one sentence for people. */

export interface AdminErrorOptions {
  /** Where in the request: `/limit`, `?from`, `header if-match`. */
  path?: string;
  headers?: Readonly<Record<string, string>>;
}

export class AdminError extends Error {
  readonly status: number;
  readonly code: string;
  readonly path: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, { path, headers = {} }: AdminErrorOptions = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.path = path;
    this.headers = headers;
  }
}

export function notFound(what: string, id: string): AdminError {
  return new AdminError(404, "not_found", `There is no ${what} ${JSON.stringify(id.slice(0, 100))}.`);
}

export function invalid(message: string, path?: string): AdminError {
  return new AdminError(400, "invalid_request", message, path === undefined ? {} : { path });
}

/** The entry is in the config file. */
export function declared(what: string, name: string): AdminError {
  return new AdminError(
    409,
    "declared",
    `The ${what} ${name} is declared in the configuration file; change it there and reload.`,
  );
}

export function nameTaken(name: string): AdminError {
  return conflict(`There is already a stored model with the name ${name}.`, "/name");
}

export function conflict(message: string, path?: string): AdminError {
  return new AdminError(409, "conflict", message, path === undefined ? {} : { path });
}
