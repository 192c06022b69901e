/** Certificates for 127.0.0.1 that no authority signed, made for tests alone; valid for a hundred years. */
import { SELF_SIGNED } from "../faults/upstream/self-signed.ts";

/** PEM texts of a certificate and its private key. */
export interface KeyPair {
  cert: string;
  key: string;
}

export const FIRST: KeyPair = SELF_SIGNED;

export const SECOND: KeyPair = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgACH6DbjHMLKkscnZ
mlTyS6pDS/lIXfbiFFXWOp8qntChRANCAASWQcZE2gmmY1kgZq5/AeBfwDUJJm0Z
TlATBRTGa1cpN3430NESMrelyhAQa8MP8l1XLvI/oZvkVE/IJnLBXaMU
-----END PRIVATE KEY-----`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUR4WKiRThkcjT6mXsnUE46sUKTK0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTE1NDIzMloYDzIxMjYxMDI4
MTU0MjMyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASWQcZE2gmmY1kgZq5/AeBfwDUJJm0ZTlATBRTGa1cpN3430NESMrel
yhAQa8MP8l1XLvI/oZvkVE/IJnLBXaMUo28wbTAdBgNVHQ4EFgQUiuQF9vB6k2XO
+KtR9HFMFijWlQ8wHwYDVR0jBBgwFoAUiuQF9vB6k2XO+KtR9HFMFijWlQ8wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgGwKPehA+6kvC071yYllp34PPJ8ydgCMuErnyZ/yr63ACIHEc
omslzSeaTtG3jr6nRC1NdrxE7jRNGp9dZ7XzWFXL
-----END CERTIFICATE-----`,
};
