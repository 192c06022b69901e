/** How a command prints a new key. */
import type { BookContext } from "./command.ts";
import type { CreatedKey } from "../../operator/index.ts";
import { showLimit } from "./show.ts";

/** The key alone goes to standard output, so that a script can read it: `KEY=$(weir keys create app)`. */
export function showSecret(created: CreatedKey, { api, printError, show, warn }: BookContext): void {
  const { key, secret, closed, budget } = created;
  warn(key);
  show(created, () => secret);
  const where = api.port ? ` to the gateway on port ${api.port}` : "";
  const use =
    key.kind === "call"
      ? `Clients send it as their API key (OPENAI_API_KEY, ANTHROPIC_API_KEY, …)${where}.`
      : "It is for the admin API: set it as WEIR_ADMIN_KEY.";
  printError(`This is the key ${key.name} (${key.id}). weir shows it only now and stores its digest. ${use}`);
  if (budget)
    printError(`Its budget ${budget.name} is ${showLimit(budget.limit, budget.window)}, ${budget.mode}.`);
  if (closed && key.kind === "call") printError("Every call needs a key from now on.");
}
