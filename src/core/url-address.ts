/** Formats whose URL names the model, as those of Google do. */

/**
 * Paths that name a model and a method: `/v1beta/models/MODEL:generateContent`. All paths of such a format (`path`, `stream`,
 * `count.path`) have the form `BASE{+model}:METHOD`, with the first of the `bases`; weir serves them at every base.
 */
export interface UrlAddress {
  /** The path before the model name, with a slash at its end; `{name}` stands for one segment. */
  bases: readonly string[];
  /** Path of requests for streams. */
  stream: string;
  /** Beginnings of paths that only clients of this format use: an error for another path there has this format. */
  prefixes: readonly string[];
  /** The model that a path names, percent-decoded; `undefined` if it names none. */
  modelOf(path: string): string | undefined;
  /** Whether a stream consists of server-sent events; otherwise weir writes one JSON array. */
  wantsEvents(query: URLSearchParams): boolean;
  /** Query parameter that may hold the gateway key of a client that sends it in no header. weir does not log it. */
  keyParameter: string;
}
