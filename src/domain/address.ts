/** IP addresses, and the names of this machine. The ranges come from `ipaddr.js`. */
import ipaddr from "ipaddr.js";

/** An IPv4 or IPv6 address. */
type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** Addresses whose last 32 bits are an IPv4 address: mapped, compatible (deprecated), and behind NAT64. */
const WITH_IPV4 = ["::ffff:0:0/96", "::/96", "64:ff9b::/96"].map((range) => ipaddr.IPv6.parseCIDR(range));

/**
 * Reads a host: an IPv4 address of four decimal parts, or an IPv6 address with or without brackets and zone. `null` for
 * a name. A URL writes its host in this way, whatever the spelling was.
 */
export function addressOf(host: string): IpAddress | null {
  const text = host.replace(/^\[(.*)\]$/, "$1");
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : null;
}

/** The IPv4 address that an IPv6 address leads to; every other address unchanged. */
export function reachedAddress(address: IpAddress): IpAddress {
  if (address instanceof ipaddr.IPv4 || !WITH_IPV4.some((range) => address.match(range))) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(12));
}

/** True for hosts that name only this machine: `localhost`, 127.0.0.0/8 and ::1, but for no address mapped to them. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || addressOf(host)?.range() === "loopback";
}
