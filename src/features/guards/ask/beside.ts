/** Verdicts on a request that the provider works on meanwhile. */
import type { Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import type { Opened } from "../../../gateway/lanes/lane.ts";

/**
 * Waits for all verdicts; the answer is not read before.
 * @param opening the answer as it begins
 * @throws GatewayError of a guard that blocks, or that has no verdict: then the provider is stopped
 */
export async function verdictBeside(
  verdicts: readonly Promise<void>[],
  opening: Promise<Opened>,
  call: Call,
): Promise<void> {
  // The first verdict that blocks decides, and the others may have failed.
  opening.catch(() => {});
  try {
    await Promise.all(verdicts);
  } catch (thrown) {
    const error = GatewayError.from(thrown);
    call.abort(error);
    opening.then(
      (opened) => opened.kind === "stream" && opened.source.stop(error),
      () => {},
    );
    throw thrown;
  }
}
