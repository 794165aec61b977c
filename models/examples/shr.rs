use pagefence_models::*; use pagefence::cell::Profile; use pagefence_models::shrink::*; use pagefence::explore::Signature;
fn main(){
  let a:Vec<String>=std::env::args().skip(1).collect();
  std::panic::set_hook(Box::new(|_| {}));
  let mut p=a[0].split(' '); let mut profile=Profile::preset(p.next().unwrap()).unwrap(); for s in p {profile=profile.set(s).unwrap();}
  let whole=a[1]=="whole"; let (m,s)=a[2].split_once('/').unwrap();
  let engine = match a[5].as_str(){"shuttle"=>Engine::Shuttle,"dfs"=>Engine::Dfs,n=>Engine::Loom{preemptions:Some(n.parse().unwrap())}};
  let job=Job{model:m.into(),slice:s.into(),profile:profile.clone(),engine,seed:1,executions:u64::MAX,milliseconds:Some(a[4].parse().unwrap()),until:pagefence::lifetime::Kind::ALL.into_iter().filter(|k|k.name()==a[3]).collect()};
  let r=job.run().unwrap(); eprintln!("{:?} {}",r.ending,r.executions);
  let Some(met)=r.met.iter().find(|m|m.signature.kind.name()==a[3]) else {return};
  eprintln!("{} len {} sw {}",met.signature,met.schedule.len(),met.schedule.switches());
  let stage=job.slice().unwrap().stage(profile.switches);
  if let Some(f)=follow_on(&stage,&met.schedule) { let n=f.schedule.accesses.iter().zip(&met.schedule.accesses).position(|(a,b)|a!=b); eprintln!("follow: {} entries, diverges at {:?}", f.schedule.len(), n);
    if let Some(n)=n { for i in n.saturating_sub(8)..(n+6).min(f.schedule.len()).min(met.schedule.len()) { eprintln!("   {} {:?} | {:?}", i, met.schedule.accesses[i], f.schedule.accesses[i]); } for (i,sh) in stage.shifts().iter().enumerate(){eprintln!("  {i} {} {}",sh.actor,sh.turns);} } else { eprintln!("{:?}", f.violations.iter().map(|v|Signature::from(v).kind.name()).collect::<Vec<_>>()); } } else { eprintln!("follow failed"); }
  let Some(small)=shrink(&stage,&met.schedule,Signature::from(met.signature)) else {eprintln!("NOT REPRODUCED");return};
  eprintln!("shrunk to len {} switches {}",small.schedule.len(),small.schedule.switches());
  for sh in stage.shifts(){eprintln!("  {}",sh.actor);}
  let mut at=0; for (t,n) in small.schedule.stretches(){ println!("{:20} {}", stage.shifts()[t as usize].actor.to_string(), small.schedule.accesses[at..at+n].iter().map(|a|a.did.clone()).collect::<Vec<_>>().join(" ")); at+=n; }
}
