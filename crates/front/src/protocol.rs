//! The protocols of the server: a codec for each kind of client.

use std::net::SocketAddr;

use plimsoll_volume::Export;

use crate::codec::{Codec, Decoded, Exports, ReplyBody, SessionServices, Tag, Tls};
pub(crate) use crate::fuse::Device;
pub(crate) use crate::fuse::PAYLOAD_MAX as DEVICE_PAYLOAD_MAX;
use crate::fuse::Tree;
pub(crate) use crate::fuse::wire::WRITE_BYTES as DEVICE_HEAD_BYTES;
use crate::iscsi::{ENTROPY_BYTES, IscsiCodec, Targets};
use crate::nbd::NbdCodec;
use crate::offer::Offer;
use crate::unit::Controller;

#[derive(Clone, Debug, Default)]
pub enum SocketProtocol {
    /// NBD: a client chooses an export by its name.
    #[default]
    Nbd,
    /// iSCSI: each export is the logical unit of a target.
    Iscsi(Targets),
}

impl SocketProtocol {
    /// Forgets the state of an export that is no longer offered: another one may get its number.
    pub(crate) fn forget(&self, export: Export) {
        if let Self::Iscsi(targets) = self {
            targets.forget(export);
        }
    }

    /// Makes a controller the owner of an export.
    pub(crate) fn set_owner(&self, export: Export, owner: Controller) {
        if let Self::Iscsi(targets) = self {
            targets.set_owner(export, owner);
        }
    }
}

/// Random bytes for a new client.
pub(crate) type Entropy = [u8; ENTROPY_BYTES];

/// The codec of a client. An enum, as a boxed codec would cost a dynamic call for each request.
#[derive(Debug)]
pub(crate) enum Protocol {
    Nbd(NbdCodec),
    Fuse(Tree),
    Iscsi(Box<IscsiCodec>),
}

impl Protocol {
    /// For a client of a listening socket; the greeting is appended to `out`.
    pub(crate) fn of_stream(
        service: &SocketProtocol,
        tls: Tls,
        local: Option<SocketAddr>,
        entropy: Entropy,
        out: &mut Vec<u8>,
    ) -> Self {
        match service {
            SocketProtocol::Nbd => Self::Nbd(NbdCodec::new(tls, out)),
            SocketProtocol::Iscsi(targets) => {
                let local = local.map(|address| address.to_string()).unwrap_or_default();
                Self::Iscsi(Box::new(IscsiCodec::new(targets, local, entropy)))
            }
        }
    }

    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Nbd(_) => "nbd",
            Self::Fuse(_) => "fuse",
            Self::Iscsi(_) => "iscsi",
        }
    }

    /// The services of a protocol with sessions; `None` without them.
    pub(crate) const fn services(&self) -> Option<&impl SessionServices> {
        match self {
            Self::Iscsi(codec) => Some(&**codec),
            Self::Nbd(_) | Self::Fuse(_) => None,
        }
    }

    /// [`Self::services`] that change its state.
    pub(crate) const fn services_mut(&mut self) -> Option<&mut impl SessionServices> {
        match self {
            Self::Iscsi(codec) => Some(&mut **codec),
            Self::Nbd(_) | Self::Fuse(_) => None,
        }
    }

    /// For the kernel, which shows an export as a file.
    pub(crate) fn of_device(device: &Device, offer: &Offer) -> Self {
        let (access, minimum) = (offer.access, offer.blocks.minimum);
        Self::Fuse(Tree { access, minimum, owner: device.owner, time: device.time })
    }
}

#[cfg(test)]
impl Protocol {
    /// Clients that have chosen an export, with replies in one piece, in chunks, and in chunks with long headers.
    pub(crate) fn negotiated() -> [Self; 3] {
        use plimsoll_device::nbd::wire::Style;
        [Style::Simple, Style::Structured, Style::Extended].map(|style| {
            let (access, blocks) = (plimsoll_volume::VolumeAccess::ReadWrite, crate::offer::Blocks::default());
            let terms = crate::nbd::Terms { style, allocation: false, size: 1 << 30, access, blocks };
            Self::Nbd(NbdCodec::transmission(terms))
        })
    }
}

impl Codec for Protocol {
    #[inline]
    fn feed(&mut self, input: &[u8], exports: &Exports<'_>, out: &mut Vec<u8>) -> Decoded {
        match self {
            Self::Nbd(codec) => codec.feed(input, exports, out),
            Self::Fuse(codec) => codec.feed(input, exports, out),
            Self::Iscsi(codec) => codec.feed(input, exports, out),
        }
    }

    #[inline]
    fn reply(&mut self, tag: &Tag, body: &ReplyBody<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Nbd(codec) => codec.reply(tag, body, out),
            Self::Fuse(codec) => codec.reply(tag, body, out),
            Self::Iscsi(codec) => codec.reply(tag, body, out),
        }
    }

    #[inline]
    fn header_bytes(&self) -> Option<usize> {
        match self {
            Self::Nbd(codec) => codec.header_bytes(),
            Self::Fuse(codec) => codec.header_bytes(),
            Self::Iscsi(codec) => codec.header_bytes(),
        }
    }

    fn take_refusal(&mut self) -> Option<String> {
        match self {
            Self::Nbd(codec) => codec.take_refusal(),
            Self::Fuse(codec) => codec.take_refusal(),
            Self::Iscsi(codec) => codec.take_refusal(),
        }
    }

    fn start_tls(&mut self) {
        match self {
            Self::Nbd(codec) => codec.start_tls(),
            Self::Fuse(codec) => codec.start_tls(),
            Self::Iscsi(codec) => codec.start_tls(),
        }
    }
}
