/** Work that does not outlast a signal. @throws the reason of the signal, if it aborts first */
export function aborted<Value>(work: Promise<Value>, stop: AbortSignal): Promise<Value> {
  if (stop.aborted) return Promise.reject(stop.reason as Error);
  return new Promise((resolve, reject) => {
    const abort = () => reject(stop.reason as Error);
    stop.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => stop.removeEventListener("abort", abort));
  });
}
