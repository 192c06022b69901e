/** Files that their readers get in another form than the one in which weir keeps them. */
import type { Vendor } from "./format.ts";
import type { KeptFile } from "./kept-files.ts";
import { Slot } from "./slot.ts";

/** A part that has forms for files of its own, such as results in the format of whose API reads them. */
export interface FileForms {
  /**
   * @param reader whose API asks for the content
   * @param url of the request: its query may ask for the bytes as they are
   * @returns the content for this reader, whose length is not known before; undefined: the bytes as they are
   * @throws GatewayError
   */
  formOf(
    file: KeptFile,
    reader: Vendor,
    url: string,
  ): Promise<AsyncGenerator<Uint8Array, void, undefined> | undefined>;
}

/** On {@link WorkerHost.offers}. Absent where no part has such forms. */
export const fileForms = new Slot<FileForms>();
