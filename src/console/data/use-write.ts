/** A write from a dialog: whether it runs, why it failed, and the same answer when it is repeated. */
import { useRef, useState } from "preact/hooks";
import { ApiError, send, type SendOptions } from "./api.ts";

export interface Write<Answer> {
  busy: boolean;
  error: ApiError | undefined;
  /** @returns undefined after a failure, which `error` then describes */
  run: (
    method: "POST" | "PATCH" | "DELETE",
    to: string,
    options?: SendOptions,
  ) => Promise<Answer | undefined>;
}

export function useWrite<Answer>(): Write<Answer> {
  const [state, setState] = useState<{ busy: boolean; error: ApiError | undefined }>({
    busy: false,
    error: undefined,
  });
  // What was refused may be sent again with other values, which the same id would forbid.
  const once = useRef(newId());
  return {
    ...state,
    run: async (method, to, options = {}) => {
      setState({ busy: true, error: undefined });
      try {
        const answer = await send<Answer>(method, to, { once: once.current, ...options });
        setState({ busy: false, error: undefined });
        once.current = newId();
        return answer;
      } catch (cause) {
        const error = cause instanceof ApiError ? cause : new ApiError(0, "failed", String(cause));
        if (error.status !== 0) once.current = newId();
        setState({ busy: false, error });
        return undefined;
      }
    },
  };
}

/** `crypto.randomUUID` exists only on secure origins. */
function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
