/** What the parts of a `Request` cost when a handler touches them: `bun test/bench/runtime/request.ts`. */
import { compare, END, handled, type Handler } from "./compare.ts";

/** Each request is touched, then answered the same way. */
const touching = (touch: (request: Request) => unknown): Handler => {
  return (request) => {
    touch(request);
    return new Response(END);
  };
};

const reading = (read: (request: Request) => Promise<unknown>): Handler => {
  return async (request) => {
    await read(request);
    return new Response(END);
  };
};

/** As a gateway answers: after it has waited for something. */
const later = (touch: (request: Request) => unknown): Handler => {
  return async (request) => {
    touch(request);
    await new Promise((resolve) => setImmediate(resolve));
    return new Response(END);
  };
};

await compare("a handler that touches of its Request", {
  nothing: handled(touching(() => {})),
  "`method`": handled(touching((request) => request.method)),
  "`url`": handled(touching((request) => request.url)),
  "`headers`": handled(touching((request) => request.headers)),
  "`headers.get` of one name": handled(touching(({ headers }) => headers.get("authorization"))),
  "`headers.get` of five names": handled(
    touching(({ headers }) => {
      for (const name of ["authorization", "content-type", "host", "user-agent", "x-absent"])
        headers.get(name);
    }),
  ),
  "`headers.toJSON()`": handled(touching(({ headers }) => headers.toJSON())),
  "`[...headers]`": handled(touching(({ headers }) => [...headers])),
  "`signal`": handled(touching(({ signal }) => signal.aborted)),
  "`signal` with a listener": handled(touching(({ signal }) => signal.addEventListener("abort", () => {}))),
  "nothing, and is async": handled(reading(async () => {})),
  "nothing, and answers in a later turn": handled(later(() => {})),
  "the same, and `signal` with a listener": handled(
    later(({ signal }) => signal.addEventListener("abort", () => {})),
  ),
  "`bytes()`": handled(reading((request) => request.bytes())),
  "`arrayBuffer()`": handled(reading((request) => request.arrayBuffer())),
  "`text()`": handled(reading((request) => request.text())),
  "`json()`": handled(reading((request) => request.json())),
});
