//! Which user of this machine holds the other end of a TCP connection.
//!
//! Every user of a machine can connect to its loopback addresses. The kernel knows who did: Linux answers by socket
//! diagnostics (one request over netlink, about ten microseconds), and lists the same in `/proc/net/tcp`. Other systems have
//! no way that needs neither rights nor unsafe code, so there the owner stays unknown.

use std::net::SocketAddr;

use tokio::net::TcpStream;

/// The user who holds the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionOwner {
    /// The user who runs this server.
    ThisUser,
    /// Another user of this machine.
    OtherUser,
    /// The kernel does not know, or it is root, who may forward the connections of others.
    Unknown,
}

/// Finds the owner of a connection that was just accepted.
pub(crate) fn find_owner(stream: &TcpStream) -> ConnectionOwner {
    let (Ok(own), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) else {
        return ConnectionOwner::Unknown;
    };
    let Some(uid) = find_uid(peer, own) else {
        return ConnectionOwner::Unknown;
    };
    // A client that resets its connection frees its port, and another user could get it before the kernel is asked. A
    // connection that still has a peer was never reset, so its port still belongs to the client that was accepted.
    if stream.peer_addr().is_err() {
        return ConnectionOwner::Unknown;
    }
    match uid {
        uid if uid == rustix::process::geteuid().as_raw() => ConnectionOwner::ThisUser,
        0 => ConnectionOwner::Unknown,
        _ => ConnectionOwner::OtherUser,
    }
}

/// The user who holds the socket that is bound to `client` and connected to `server`.
#[cfg(target_os = "linux")]
fn find_uid(client: SocketAddr, server: SocketAddr) -> Option<u32> {
    match diagnostics::find_socket(client, server) {
        Ok(found) => found?.owner_uid(),
        // Some sandboxes have no socket diagnostics.
        Err(_) => proc_net::find_socket(client, server)?.owner_uid(),
    }
}

#[cfg(not(target_os = "linux"))]
fn find_uid(_client: SocketAddr, _server: SocketAddr) -> Option<u32> {
    None
}

/// The kernel's record of a socket.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SocketRecord {
    /// As `tcp_states.h` numbers them.
    state: u8,
    uid: u32,
    inode: u32,
}

/// The states of a client's socket whose connection was accepted: established, or closed for sending. A socket in another
/// state may share its addresses with the client's. One that only begins to connect does, for instance, where the client's is
/// bound to an interface.
#[cfg(target_os = "linux")]
const CONNECTED_STATES: [u8; 3] = [1, 4, 5];

#[cfg(target_os = "linux")]
impl SocketRecord {
    /// The user of a socket that a process still holds. The kernel shows a socket that was closed as root's, without an
    /// inode.
    fn owner_uid(self) -> Option<u32> {
        (self.inode != 0 && CONNECTED_STATES.contains(&self.state)).then_some(self.uid)
    }
}

/// Whether both are the same address, also where one of them is an IPv4 address in IPv6 form.
#[cfg(target_os = "linux")]
fn is_same_address(one: SocketAddr, other: SocketAddr) -> bool {
    one.ip().to_canonical() == other.ip().to_canonical() && one.port() == other.port()
}

/// Socket diagnostics over netlink, see `sock_diag(7)`.
#[cfg(target_os = "linux")]
mod diagnostics {
    use std::io;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice, netlink};

    use super::{SocketRecord, is_same_address};

    const SOCK_DIAG_BY_FAMILY: u16 = 20;
    const NLMSG_ERROR: u16 = 2;
    const NLM_F_REQUEST: u16 = 1;
    const ENOENT: i32 = 2;
    const IPPROTO_TCP: u8 = 6;
    const AF_INET: u8 = 2;
    const AF_INET6: u8 = 10;
    const ANY_STATE: u32 = u32::MAX;
    const NO_COOKIE: [u32; 2] = [u32::MAX; 2];
    const HEADER_BYTES: usize = 16;
    const LOOPBACK_INTERFACE: &str = "lo";

    /// Asks the kernel for the socket with exactly these two addresses; `None` if there is none.
    pub(crate) fn find_socket(local: SocketAddr, remote: SocketAddr) -> io::Result<Option<SocketRecord>> {
        let flags = SocketFlags::CLOEXEC;
        let protocol = Some(netlink::SOCK_DIAG);
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, protocol)?;
        // Without the interface, the kernel does not find sockets that are bound to one.
        let interface = netdevice::name_to_index(&socket, LOOPBACK_INTERFACE).unwrap_or(0);
        rustix::net::send(&socket, &encode_request(local, remote, interface), SendFlags::empty())?;
        let mut reply = [0; 1024];
        // The kernel answers before `send` returns.
        let (length, _) = rustix::net::recv(&socket, &mut reply[..], RecvFlags::DONTWAIT)?;
        decode_reply(&reply[..length], local, remote)
    }

    /// An `inet_diag_req_v2` with its header.
    pub(crate) fn encode_request(local: SocketAddr, remote: SocketAddr, interface: u32) -> Vec<u8> {
        let (family, addresses) = match (local.ip().to_canonical(), remote.ip().to_canonical()) {
            (IpAddr::V4(local), IpAddr::V4(remote)) => (AF_INET, [pad_to_16_bytes(local), pad_to_16_bytes(remote)]),
            (local, remote) => (AF_INET6, [to_ipv6(local).octets(), to_ipv6(remote).octets()]),
        };
        let mut request = vec![family, IPPROTO_TCP, 0, 0];
        request.extend(ANY_STATE.to_ne_bytes());
        request.extend(local.port().to_be_bytes());
        request.extend(remote.port().to_be_bytes());
        request.extend(addresses.concat());
        request.extend(interface.to_ne_bytes());
        request.extend(NO_COOKIE.map(u32::to_ne_bytes).concat());
        let length = u32::try_from(HEADER_BYTES + request.len()).unwrap_or_default();
        let mut message = length.to_ne_bytes().to_vec();
        message.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
        message.extend(NLM_F_REQUEST.to_ne_bytes());
        // Sequence number and port are not needed for a single request.
        message.extend([0; 8]);
        message.extend(request);
        message
    }

    fn pad_to_16_bytes(address: Ipv4Addr) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&address.octets());
        bytes
    }

    fn to_ipv6(address: IpAddr) -> Ipv6Addr {
        match address {
            IpAddr::V4(address) => address.to_ipv6_mapped(),
            IpAddr::V6(address) => address,
        }
    }

    /// Reads an `inet_diag_msg` with its header. The kernel answers with a listening socket where there is no connection, so
    /// both addresses must be those that were asked for.
    pub(crate) fn decode_reply(
        reply: &[u8],
        local: SocketAddr,
        remote: SocketAddr,
    ) -> io::Result<Option<SocketRecord>> {
        let reader = NetlinkReader(reply);
        let (kind, body) = reader.read_u16(4).zip(reply.get(HEADER_BYTES..)).ok_or_else(garbled_reply_error)?;
        let body = NetlinkReader(body);
        if kind == NLMSG_ERROR {
            let code = body.read_u32(0).ok_or_else(garbled_reply_error)?.cast_signed().wrapping_neg();
            return match code {
                ENOENT => Ok(None),
                code => Err(io::Error::from_raw_os_error(code)),
            };
        }
        if kind != SOCK_DIAG_BY_FAMILY {
            return Err(garbled_reply_error());
        }
        let family = *body.0.first().ok_or_else(garbled_reply_error)?;
        let found_local = body.read_address(family, 4, 8).ok_or_else(garbled_reply_error)?;
        let found_remote = body.read_address(family, 6, 24).ok_or_else(garbled_reply_error)?;
        let record = SocketRecord {
            state: *body.0.get(1).ok_or_else(garbled_reply_error)?,
            uid: body.read_u32(64).ok_or_else(garbled_reply_error)?,
            inode: body.read_u32(68).ok_or_else(garbled_reply_error)?,
        };
        let is_it = is_same_address(found_local, local) && is_same_address(found_remote, remote);
        Ok(is_it.then_some(record))
    }

    fn garbled_reply_error() -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, "unexpected answer of the kernel")
    }

    struct NetlinkReader<'r>(&'r [u8]);

    impl NetlinkReader<'_> {
        fn read_bytes<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
            self.0.get(at..at + N)?.try_into().ok()
        }

        fn read_u16(&self, at: usize) -> Option<u16> {
            self.read_bytes(at).map(u16::from_ne_bytes)
        }

        fn read_u32(&self, at: usize) -> Option<u32> {
            self.read_bytes(at).map(u32::from_ne_bytes)
        }

        fn read_address(&self, family: u8, port_at: usize, ip_at: usize) -> Option<SocketAddr> {
            let ip = match family {
                AF_INET => IpAddr::from(self.read_bytes::<4>(ip_at)?),
                _ => IpAddr::from(self.read_bytes::<16>(ip_at)?),
            };
            let port = self.read_bytes(port_at).map(u16::from_be_bytes)?;
            Some(SocketAddr::new(ip, port))
        }
    }
}

/// The tables of sockets in `/proc/net`.
#[cfg(target_os = "linux")]
mod proc_net {
    use std::fs;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

    use super::{SocketRecord, is_same_address};

    /// An IPv6 socket that is connected to an IPv4 address is in the second table.
    const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

    pub(crate) fn find_socket(local: SocketAddr, remote: SocketAddr) -> Option<SocketRecord> {
        let tables: Vec<_> = TABLES.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
        let mut found = tables.iter().flat_map(|table| records_in_table(table, local, remote));
        // Where several sockets have these addresses, it is not known which one is the client's.
        found.next().filter(|_| found.next().is_none())
    }

    fn records_in_table(table: &str, local: SocketAddr, remote: SocketAddr) -> impl Iterator<Item = SocketRecord> {
        table.lines().skip(1).filter_map(move |line| {
            let fields: Vec<_> = line.split_ascii_whitespace().collect();
            let is_it = is_same_address(parse_address(fields.get(1)?)?, local)
                && is_same_address(parse_address(fields.get(2)?)?, remote);
            let record = SocketRecord {
                state: u8::from_str_radix(fields.get(3)?, 16).ok()?,
                uid: fields.get(7)?.parse().ok()?,
                inode: fields.get(9)?.parse().ok()?,
            };
            is_it.then_some(record)
        })
    }

    /// `0100007F:1D09`: words of the address in the machine's own byte order, then the port.
    fn parse_address(text: &str) -> Option<SocketAddr> {
        let (address, port) = text.split_once(':')?;
        let words: Vec<u32> = (0..address.len())
            .step_by(8)
            .map(|start| u32::from_str_radix(address.get(start..start + 8)?, 16).ok())
            .collect::<Option<_>>()?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let ip = match <[u8; 4]>::try_from(bytes.as_slice()) {
            Ok(bytes) => IpAddr::V4(Ipv4Addr::from(bytes)),
            Err(_) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        };
        Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::net::{Shutdown, TcpListener, TcpStream};

    /// A listener's address and the address that a client connects to.
    const ADDRESS_PAIRS: [(&str, &str); 3] =
        [("127.0.0.1:0", "127.0.0.1"), ("127.0.0.1:0", "::ffff:127.0.0.1"), ("[::1]:0", "::1")];

    fn connect_pair(listen: &str, to: &str) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind(listen).unwrap();
        let to: std::net::IpAddr = to.parse().unwrap();
        let client = TcpStream::connect((to, listener.local_addr().unwrap().port())).unwrap();
        (listener.accept().unwrap().0, client)
    }

    fn find_by_both_ways(server: &TcpStream) -> [Option<SocketRecord>; 2] {
        let (own, peer) = (server.local_addr().unwrap(), server.peer_addr().unwrap());
        [diagnostics::find_socket(peer, own).unwrap(), proc_net::find_socket(peer, own)]
    }

    #[test]
    fn a_client_is_found_over_both_families_and_by_both_ways() {
        let own = Some(rustix::process::geteuid().as_raw());
        for (listen, to) in ADDRESS_PAIRS {
            let (server, client) = connect_pair(listen, to);
            for found in find_by_both_ways(&server) {
                assert_eq!(found.unwrap().owner_uid(), own, "{listen} {to}");
            }
            client.shutdown(Shutdown::Write).unwrap();
            for found in find_by_both_ways(&server) {
                assert_eq!(found.unwrap().owner_uid(), own, "{listen} {to}, half closed");
            }
        }
    }

    #[test]
    fn a_client_that_has_closed_its_socket_is_not_taken_for_root() {
        for (listen, to) in ADDRESS_PAIRS {
            let (server, client) = connect_pair(listen, to);
            drop(client);
            for found in find_by_both_ways(&server) {
                assert_eq!(found.and_then(SocketRecord::owner_uid), None, "{listen} {to}");
            }
        }
    }

    #[test]
    fn only_a_socket_that_is_connected_and_held_has_an_owner() {
        let record = |state, inode| SocketRecord { state, uid: 7, inode };
        let rows = [
            (record(1, 5), Some(7)),
            (record(4, 5), Some(7)),
            (record(5, 5), Some(7)),
            // It begins to connect, is closed by the other side, is about to end, or listens.
            (record(2, 5), None),
            (record(3, 5), None),
            (record(6, 5), None),
            (record(7, 5), None),
            (record(8, 5), None),
            (record(10, 5), None),
            (record(1, 0), None),
        ];
        for (record, expected) in rows {
            assert_eq!(record.owner_uid(), expected, "{record:?}");
        }
    }

    #[test]
    fn a_listening_socket_is_not_taken_for_a_client() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap();
        let elsewhere = SocketAddr::new(own.ip(), 1);
        assert_eq!(diagnostics::find_socket(own, elsewhere).unwrap(), None);
        assert_eq!(proc_net::find_socket(own, elsewhere), None);
    }

    #[test]
    fn a_garbled_answer_of_the_kernel_is_an_error() {
        let one: SocketAddr = "127.0.0.1:1".parse().unwrap();
        let request = diagnostics::encode_request(one, one, 0);
        for length in 0..request.len() {
            assert!(diagnostics::decode_reply(&request[..length], one, one).is_err(), "{length}");
        }
    }
}
