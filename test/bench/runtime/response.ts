/** What the ways to make a `Response` with headers cost: `bun test/bench/runtime/response.ts`. */
import { compare, END, handled } from "./compare.ts";

const FIVE: Record<string, string> = {
  "content-type": "application/json",
  "cache-control": "no-cache",
  "x-weir-provider": "openai",
  "x-weir-model": "bench",
  "x-weir-lane": "native",
};
const shared = new Headers(FIVE);
const changed = new Headers(FIVE);
const bytes = Buffer.from(END);
let count = 0;

await compare("a handler that answers with", {
  "a string": handled(() => new Response(END)),
  bytes: handled(() => new Response(bytes)),
  "a string, by a promise": handled(async () => new Response(END)),
  "a status": handled(() => new Response(END, { status: 200 })),
  "one header of an object": handled(
    () => new Response(END, { headers: { "content-type": "application/json" } }),
  ),
  "five headers of an object": handled(() => new Response(END, { headers: FIVE })),
  "five headers of an array": handled(() => new Response(END, { headers: Object.entries(FIVE) })),
  "five headers of a new `Headers`": handled(() => new Response(END, { headers: new Headers(FIVE) })),
  "five headers of a shared `Headers`": handled(() => new Response(END, { headers: shared })),
  "the same, and one set on `response.headers`": handled(() => {
    const response = new Response(END, { headers: shared });
    response.headers.set("x-request-id", `req_${count++}`);
    return response;
  }),
  "the same, and two set": handled(() => {
    const response = new Response(END, { headers: shared });
    response.headers.set("x-request-id", `req_${count}`);
    response.headers.set("request-id", `req_${count++}`);
    return response;
  }),
  "the same two, set on the shared `Headers` before": handled(() => {
    changed.set("x-request-id", `req_${count}`);
    changed.set("request-id", `req_${count++}`);
    return new Response(END, { headers: changed });
  }),
});
