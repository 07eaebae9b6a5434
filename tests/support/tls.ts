/**
 * A certificate for this machine that clients trust only if configured to, with its key: both are public,
 * and of these tests only.
 */

/** For `localhost` and 127.0.0.1, signed by itself, good until 2120. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBfjCCASSgAwIBAgIBATAKBggqhkjOPQQDAjAhMR8wHQYDVQQDDBZhIHRlc3Qg
b2YgdGhpcyBwcm9qZWN0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAw
WjAhMR8wHQYDVQQDDBZhIHRlc3Qgb2YgdGhpcyBwcm9qZWN0MFkwEwYHKoZIzj0C
AQYIKoZIzj0DAQcDQgAEwa5mho6fKP890t2ud2uCr0erU6U78OsiBk/wU4eNeIlM
6PMFvvsR7S94cazy1xacfUBgpoO4vaT1EheWLmQ3DaNLMEkwDAYDVR0TAQH/BAIw
ADAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwHQYDVR0OBBYEFOjLqTvfie+h
vyPPSMNDY0WLj1c0MAoGCCqGSM49BAMCA0gAMEUCIQCCI8cR/djUCBsSMaGIldCx
DLPqB67I48J80rhNza80rwIgIIpNLcdSDb7txOPAV4AlwSvaglOgJhrtRLv+SWwe
v1E=
-----END CERTIFICATE-----
`;

/** Its key. */
export const CERTIFICATE_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgB3xWvM5cK30PortB
dBRBdajaUp7KmuMRAJQWWVZQ30ChRANCAATBrmaGjp8o/z3S3a53a4KvR6tTpTvw
6yIGT/BTh414iUzo8wW++xHtL3hxrPLXFpx9QGCmg7i9pPUSF5YuZDcN
-----END PRIVATE KEY-----
`;
