//! x
use plimsoll_device::*; use plimsoll_drive::*; use plimsoll_load::*; use plimsoll_units::*;
fn main(){
 let dir=std::env::args().nth(1).unwrap(); let depth:u32=std::env::args().nth(2).unwrap().parse().unwrap(); let eng=std::env::args().nth(3).unwrap();
 let size=Bytes::gib(1);
 let path=std::path::Path::new(&dir);
 let spec=|pace,reads|StreamSpec{name:"d".into(),mix:Mix{sizes:Split::one(Bytes::kib(4)),reads,durable:false,flush_every:0},pattern:Pattern::Uniform,region:Region::first(size),pace};
 let clock=Clock::start();
 let shape=Shape{depth,largest:Bytes::kib(4),writes:false,compressible:0.0,seed:1};
 let mut t: Box<dyn Target> = match &eng[..] { "null"=>Box::new(Null::new(clock)), "nop"=>Box::new(Ring::new(None,&shape,clock).unwrap()),
   e=>{ use std::os::fd::AsFd; let f=if path.is_dir(){ scratch(path,size,Caching::Direct).unwrap()} else {open(path,Access::Read,Caching::Direct).unwrap()}; println!("{:?}",f.caching); let b=Box::leak(Box::new(f)); (if e=="ring"{Engine::Ring}else{Engine::Threads}).start(b.file.as_fd(),&shape,clock).unwrap()}};
 let start=t.now();
 let mut load=Streams::new(&[spec(Pace::Closed{depth},1.0)],1,Phase{start,end:start+Span::from_secs(3),operations:u64::MAX}).unwrap();
 let c0=cpu_time();
 let seen=drive(&mut *t,&mut load,&Rules{depth,slice:Span::from_millis(100)},&mut |_|Onward::Continue(())).unwrap();
 let c1=cpu_time();
 let mut b=plimsoll_record::Tally::default(); for s in &seen.series { b.merge(&s.tally); }
 let n=b.operations() as f64; println!("{} ops/s, {:?} p50 {:?} p99 errors {} user ns/op {:.0} sys ns/op {:.0}", n/3.0, b.response().quantile(0.5), b.response().quantile(0.99), b.errors(), (c1.user-c0.user).as_nanos() as f64/n,(c1.system-c0.system).as_nanos() as f64/n);
}
