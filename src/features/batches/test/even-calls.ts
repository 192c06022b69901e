/**
 * Makes calls at an even pace, so that one that waits delays no other, and prints their times in milliseconds as JSON:
 * `bun even-calls.ts URL PER_SECOND SECONDS`.
 */
const [url, pace, seconds] = process.argv.slice(2);
const PACE = Number(pace);

async function call(): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`${url}/v1/chat/completions`, {
    ...{ method: "POST", headers: { "content-type": "application/json", authorization: "Bearer none" } },
    body: JSON.stringify({ model: "p/m", messages: [{ role: "user", content: "of a client" }] }),
  });
  await answer.text();
  if (!answer.ok) throw new Error(`A call failed with ${answer.status}.`);
  return performance.now() - began;
}

// The first calls open connections and load code.
for (let at = 0; at < PACE; at++) await call();
const running: Promise<number>[] = [];
const began = performance.now();
for (let sent = 0; sent < PACE * Number(seconds); sent++) {
  await Bun.sleep(Math.max(0, began + (sent * 1_000) / PACE - performance.now()));
  running.push(call());
}
console.log(JSON.stringify(await Promise.all(running)));
export {};
