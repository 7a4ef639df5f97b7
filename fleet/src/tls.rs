//! Mutual TLS between client, scheduler and executors, with certificates of a common authority.

use std::error::Error;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use ballista_core::extension::EndpointOverrideFn;
use clap::Args;
use tonic::codegen::http::Uri;
use tonic::codegen::http::uri::Scheme;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity, Server, ServerTlsConfig};

/// Files of certificates.
#[derive(Clone, Debug, Default, Args)]
pub struct TlsOptions {
    /// Certificate of this process (PEM), for the address at which the others reach it. Connections are encrypted, and
    /// only processes with certificates of --tls-ca are accepted
    #[arg(long, requires_all = ["tls_key", "tls_ca"])]
    pub tls_cert: Option<PathBuf>,
    /// Private key of --tls-cert (PEM)
    #[arg(long, requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Certificate of the cluster's own authority (PEM)
    #[arg(long, requires = "tls_cert")]
    pub tls_ca: Option<PathBuf>,
}

/// Settings of encrypted connections.
#[derive(Clone, Debug)]
pub struct Tls {
    server: ServerTlsConfig,
    client: ClientTlsConfig,
}

/// Maximum time of a connection's start, and between its signs of life.
const TIMEOUT: Duration = Duration::from_secs(20);

impl TlsOptions {
    /// Reads the files; `None` without options.
    pub fn read(&self) -> Result<Option<Tls>> {
        let (Some(cert), Some(key), Some(authority)) = (&self.tls_cert, &self.tls_key, &self.tls_ca) else {
            return Ok(None);
        };
        let read = |path: &Path| fs::read(path).with_context(|| format!("read {}", path.display()));
        let identity = Identity::from_pem(read(cert)?, read(key)?);
        let authority = Certificate::from_pem(read(authority)?);
        Ok(Some(Tls {
            server: ServerTlsConfig::new().identity(identity.clone()).client_ca_root(authority.clone()),
            client: ClientTlsConfig::new().identity(identity).ca_certificate(authority),
        }))
    }

    /// As [`TlsOptions::read`], for a server at an address, with the name by which others reach it, if any. Outside of
    /// loopback TLS is needed.
    pub fn read_for(&self, bind: IpAddr, host: Option<&str>) -> Result<Option<Tls>> {
        ensure!(
            !bind.is_unspecified() || host.is_some(),
            "--bind {bind}: name the address at which the other processes reach this one, or their name for it with --host"
        );
        let tls = self.read()?;
        ensure!(
            tls.is_some() || bind.is_loopback(),
            "--bind {bind} without TLS would accept plans from everyone: give --tls-cert, --tls-key and --tls-ca"
        );
        Ok(tls)
    }
}

impl Tls {
    /// A server that accepts only clients with a certificate.
    pub fn server(&self) -> Result<Server> {
        let server = Server::builder().tcp_nodelay(true).http2_keepalive_interval(Some(TIMEOUT));
        server.tls_config(self.server.clone()).context("--tls-cert, --tls-key, --tls-ca")
    }

    /// Makes the endpoints of Ballista's clients encrypted ones.
    pub fn endpoint_override(&self) -> EndpointOverrideFn {
        let tls = self.client.clone();
        Arc::new(move |endpoint: Endpoint| -> Result<Endpoint, Box<dyn Error + Send + Sync>> {
            // Ballista's addresses begin with http, for which tonic connects without TLS.
            let mut parts = endpoint.uri().clone().into_parts();
            parts.scheme = Some(Scheme::HTTPS);
            let endpoint = Endpoint::from(Uri::from_parts(parts)?)
                .connect_timeout(TIMEOUT)
                .tcp_nodelay(true)
                .http2_keep_alive_interval(TIMEOUT)
                .keep_alive_timeout(TIMEOUT);
            Ok(endpoint.tls_config(tls.clone())?)
        })
    }
}
