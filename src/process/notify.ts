/** Messages to the service manager: systemd, or one that speaks its protocol of datagrams. */
import { withLibrary } from "./library.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Constants of Linux. */
const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_NOSIGNAL = 0x4000;
/** Bytes of a path in the address of a unix socket. */
const MAX_PATH = 107;

/**
 * Tells the service manager something: `READY=1`, `MAINPID=4711`.
 * @returns whether it was sent; false where no service manager listens
 */
export async function notifyManager(env: Environment, text: string): Promise<boolean> {
  const path = env["NOTIFY_SOCKET"];
  if (process.platform !== "linux" || !path) return false;
  try {
    return await withLibrary((library, ptr) => {
      const message = Buffer.from(text);
      const address = addressOf(path);
      const fd = library.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
      if (fd < 0) return false;
      const sent = library.sendto(
        fd,
        ptr(message),
        message.length,
        MSG_NOSIGNAL,
        ptr(address),
        address.length,
      );
      library.close(fd);
      return Number(sent) === message.length;
    });
  } catch {
    return false;
  }
}

/** Two bytes for the family, then the path; one that begins with `@` is abstract. */
function addressOf(path: string): Buffer {
  const bytes = Buffer.from(path.startsWith("@") ? `\0${path.slice(1)}` : `${path}\0`).subarray(
    0,
    MAX_PATH + 1,
  );
  const address = Buffer.alloc(2 + bytes.length);
  address.writeUInt16LE(AF_UNIX, 0);
  address.set(bytes, 2);
  return address;
}

/** Whether a service manager counts this process as the service, so that its end is the end of the service. */
export function isService(env: Environment): boolean {
  return env["INVOCATION_ID"] !== undefined && process.ppid === 1;
}
