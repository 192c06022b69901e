/**
 * A process that stores answers in a file until it is killed, for tests of what remains. It prints the number of each answer
 * that is stored. Arguments: the file, and the first number.
 */
import { openStore } from "./direct-link.ts";
import { answerOf, itemOf, PATIENT_MS } from "./suite.ts";

const [path = "", first = "0"] = process.argv.slice(2);
const store = openStore(path);
for (let n = Number(first); ; n += 4) {
  const puts = [n, n + 1, n + 2, n + 3].map(async (number) => {
    const items = Array.from({ length: 3 + (number % 5) }, (_, i) =>
      itemOf(`n${number}-${i}`, "x".repeat(number % 9_000)),
    );
    const answer = answerOf(`n${number}`, { input: items, output: [] });
    if ((await store.put(answer, PATIENT_MS)) === "stored") process.stdout.write(`${number}\n`);
  });
  await Promise.all(puts);
}
