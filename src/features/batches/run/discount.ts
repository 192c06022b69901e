/** The price of lines that weir runs itself. */
import { DISCOUNT } from "../../../core/ledger.ts";
import type { WorkerHost } from "../../../gateway/seams.ts";

/** @param discount what is taken off the prices of all calls, from 0 to 1; undefined: nothing */
export function atDiscount(host: Pick<WorkerHost, "call">, discount = 0): Pick<WorkerHost, "call"> {
  if (discount === 0) return host;
  return {
    call: (request, inner) =>
      host.call(request, {
        ...inner,
        begins(call) {
          DISCOUNT.set(call, discount);
          inner.begins(call);
        },
      }),
  };
}
