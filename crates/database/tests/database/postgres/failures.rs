//! Failures and their messages.

use plimsoll_database::FailureKind;

use super::{Server, connected, until, unwrap_failure};

#[test]
fn failures_have_kinds_and_remedies() {
    let Some(server) = Server::start("failures") else { return };
    statements(&server);
    conflicts(&server);
    cancelled(&server);
    lost(&server);
    not_there(&server);
    passwords(&server);
}

fn statements(server: &Server) {
    let mut session = server.session();
    let mut kind = |sql: &str| unwrap_failure(session.run(sql)).kind;
    assert_eq!(kind("SELECT * FROM nowhere"), FailureKind::Missing);
    assert_eq!(kind("SELECT nothing(1)"), FailureKind::Missing);
    assert_eq!(
        kind("CREATE TABLE a (n int PRIMARY KEY); CREATE TABLE b (n int); CREATE TABLE a (n int)"),
        FailureKind::Exists
    );
    assert_eq!(kind("CREATE SCHEMA s; CREATE SCHEMA s"), FailureKind::Exists);
    assert_eq!(kind("SELECT 1/0"), FailureKind::Statement);
    assert_eq!(kind("SELEKT"), FailureKind::Statement);
    session.run("CREATE ROLE weak LOGIN; CREATE TABLE secret (n int); SET ROLE weak").unwrap();
    assert_eq!(unwrap_failure(session.run("SELECT * FROM secret")).kind, FailureKind::Refused);
}

fn conflicts(server: &Server) {
    let (mut one, mut other) = (server.session(), server.session());
    one.run("CREATE TABLE c (n int); INSERT INTO c VALUES (1)").unwrap();
    other.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM c").unwrap();
    one.run("UPDATE c SET n = 2").unwrap();
    assert_eq!(unwrap_failure(other.run("UPDATE c SET n = 3")).kind, FailureKind::Conflict);
    other.rollback().unwrap();
    one.begin().unwrap();
    one.run("UPDATE c SET n = 4").unwrap();
    other.run("SET lock_timeout = '10ms'").unwrap();
    assert_eq!(unwrap_failure(other.run("UPDATE c SET n = 5")).kind, FailureKind::Conflict);
    one.rollback().unwrap();
    assert_eq!(other.run("UPDATE c SET n = 5").unwrap().changed, 1);
}

fn cancelled(server: &Server) {
    let mut session = server.session();
    let cancel = session.cancel();
    let pid = session.number().unwrap();
    let waiting = std::thread::spawn(move || {
        let failure = unwrap_failure(session.run("SELECT pg_sleep(1000)"));
        (failure.kind, session.run("SELECT 1").unwrap().rows)
    });
    let mut other = server.session();
    let query = format!("SELECT FROM pg_stat_activity WHERE pid = {pid} AND wait_event = 'PgSleep'");
    until("it sleeps", || other.run(&query).unwrap().rows == 1);
    cancel.cancel();
    assert_eq!(waiting.join().unwrap(), (FailureKind::Cancelled, 1));
    // No effect after the end of the session.
    cancel.cancel();
}

fn lost(server: &Server) {
    let mut session = server.session();
    let pid = session.number().unwrap();
    server.session().run(&format!("SELECT pg_terminate_backend({pid})")).unwrap();
    assert_eq!(unwrap_failure(session.run("SELECT pg_sleep(1000)")).kind, FailureKind::Lost);
    assert_eq!(unwrap_failure(session.run("SELECT 1")).kind, FailureKind::Lost);
}

fn not_there(server: &Server) {
    let nobody = unwrap_failure(connected("postgres://me:secret@127.0.0.1:1/x"));
    assert_eq!(nobody.kind, FailureKind::Unreachable);
    assert!(nobody.message.contains("start it") && !nobody.message.contains("secret"), "{nobody}");
    let folder = server.folder.0.display();
    let nobody = unwrap_failure(connected(&format!("postgres:///x?host={folder}")));
    assert!(nobody.kind == FailureKind::Unreachable && nobody.message.contains(".s.PGSQL."), "{nobody}");
    let missing = unwrap_failure(connected(&format!("postgres://plimsoll@/none?host={}&port=5432", server.sockets())));
    assert_eq!(missing.kind, FailureKind::Missing, "{missing}");
    let strange = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = strange.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = strange.accept().unwrap();
        std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let strange = unwrap_failure(connected(&format!("postgres://me:secret@127.0.0.1:{port}/x")));
    assert_eq!(strange.kind, FailureKind::Unreachable, "{strange}");
}

fn passwords(server: &Server) {
    let mut session = server.session();
    for (role, method) in [("plain", "md5"), ("hashed", "md5"), ("proved", "scram-sha-256")] {
        let sql = format!("SET password_encryption = '{method}'; CREATE ROLE {role} LOGIN PASSWORD 'right%'");
        session.run(&sql).unwrap();
    }
    let folder = session.rows("SHOW data_directory").unwrap()[0][0].text().unwrap().to_owned();
    let rules = "local all plain password\nlocal all hashed md5\nlocal all proved scram-sha-256\nlocal all shut reject\nlocal all plimsoll trust\n";
    std::fs::write(format!("{folder}/pg_hba.conf"), rules).unwrap();
    session.run("SELECT pg_reload_conf()").unwrap();
    let sockets = server.sockets();
    let url = |user: &str| format!("postgres://{user}@/postgres?host={sockets}&port=5432");
    until("the rules hold", || connected(&url("proved")).is_err());
    for user in ["plain", "hashed", "proved"] {
        let named = connected(&url(&format!("{user}:right%25"))).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(named.about().folder.is_none(), "such a user may not know where the data are");
        let wrong = unwrap_failure(connected(&url(&format!("{user}:wrong-one"))));
        assert_eq!(wrong.kind, FailureKind::Refused);
        assert!(wrong.message.contains("PGPASSWORD") && !wrong.message.contains("wrong-one"), "{wrong}");
        let none = unwrap_failure(connected(&url(user)));
        assert!(none.kind == FailureKind::Refused && none.message.contains("PGPASSWORD"), "{none}");
    }
    assert_eq!(unwrap_failure(connected(&url("shut"))).kind, FailureKind::Refused);
    let tls = unwrap_failure(connected(&format!("{}&sslmode=require", url("proved:right"))));
    assert!(tls.kind == FailureKind::Unsupported && tls.message.contains("TLS"), "{tls}");
}
