//! Which fault is due at a model call.

use super::answer::{Answer, Kind, Thread};
use super::script::{Fault, FaultKind};

/// How often each fault is still to happen.
#[derive(Debug)]
pub(super) struct Faults {
    left: Vec<(Fault, u32)>,
    calls: u64,
}

impl Faults {
    pub(super) fn new(faults: &[Fault]) -> Self {
        Self { left: faults.iter().map(|fault| (fault.clone(), fault.times)).collect(), calls: 0 }
    }

    /// Nothing goes wrong any more.
    pub(super) fn clear(&mut self) {
        self.left.clear();
    }

    /// Counts a model call and takes the fault that is due at it.
    pub(super) fn due(&mut self, answer: &Answer) -> Option<FaultKind> {
        if answer.thread != Thread::Main {
            return None;
        }
        self.calls += 1;
        let calls = self.calls;
        let (fault, left) = self.left.iter_mut().find(|(fault, left)| {
            *left > 0
                && fault.at_request.is_none_or(|n| calls >= n)
                && fault.at_step.is_none_or(|step| answer.steps.contains(&step))
                && (!fault.at_checkpoint || answer.kind == Kind::Checkpoint)
        })?;
        *left -= 1;
        Some(fault.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(step: u32) -> Answer {
        Answer { steps: vec![step], ..Answer::words(Thread::Main, Kind::Work, "") }
    }

    #[test]
    fn a_fault_comes_as_often_as_it_should_and_only_where_it_should() {
        let fault = |at_request, at_step, kind, times| Fault {
            at_request,
            at_step,
            at_checkpoint: false,
            kind,
            times,
        };
        let mut faults = Faults::new(&[
            fault(Some(2), None, FaultKind::Overloaded, 2),
            fault(None, Some(3), FaultKind::Hang, 1),
        ]);
        let side = Answer::words(Thread::Side, Kind::Work, "");
        assert_eq!(faults.due(&running(1)), None);
        assert_eq!(faults.due(&side), None);
        assert_eq!(faults.due(&running(2)), Some(FaultKind::Overloaded));
        assert_eq!(faults.due(&running(2)), Some(FaultKind::Overloaded));
        assert_eq!(faults.due(&running(2)), None);
        assert_eq!(faults.due(&running(3)), Some(FaultKind::Hang));
        assert_eq!(faults.due(&running(3)), None);
    }

    #[test]
    fn a_fault_of_the_checkpoint_waits_for_one_and_ends_when_it_is_cleared() {
        let kind = FaultKind::Overloaded;
        let fault = Fault { at_request: None, at_step: None, at_checkpoint: true, kind, times: u32::MAX };
        let mut faults = Faults::new(&[fault]);
        let checkpoint = Answer::words(Thread::Main, Kind::Checkpoint, "");
        assert_eq!(faults.due(&running(1)), None);
        assert_eq!(faults.due(&checkpoint), Some(kind));
        assert_eq!(faults.due(&checkpoint), Some(kind));
        faults.clear();
        assert_eq!(faults.due(&checkpoint), None);
    }
}
