//! `control` and `settings` of a call, read by slot. The layout of each family names the slots.

use crate::boundary::{
    fault::{Fault, argument},
    table::Key,
};

/// `control`: integers by slot.
#[derive(Debug, Clone, Copy)]
pub struct ControlSlots<'a>(&'a [i64]);

impl<'a> ControlSlots<'a> {
    /// Checks the length, and the layout version in `version_slot`.
    ///
    /// # Errors
    /// `Argument` if `control` does not have `slots` numbers or is of another version.
    pub fn new(
        control: &'a [i64],
        slots: usize,
        version_slot: usize,
        version: i64,
    ) -> Result<Self, Fault> {
        if control.len() != slots {
            return Err(argument!(
                "control has length {}, expected {slots}",
                control.len()
            ));
        }
        let given = control[version_slot];
        if given != version {
            return Err(argument!(
                "control[{version_slot}], the layout version, is {given}, expected {version}: use jar and library of one version"
            ));
        }
        Ok(Self(control))
    }

    /// The number in a slot, with any value.
    pub fn any(&self, slot: usize) -> i64 {
        self.0[slot]
    }

    /// The number in a slot, `least` to `most`.
    ///
    /// # Errors
    /// `Argument` names the slot, and its number by `name`.
    pub fn within(&self, slot: usize, name: &str, least: i64, most: i64) -> Result<i64, Fault> {
        let value = self.0[slot];
        if (least..=most).contains(&value) {
            Ok(value)
        } else {
            Err(argument!(
                "control[{slot}], {name}, is {value}: it must be {least} to {most}"
            ))
        }
    }

    /// The number in a slot, `least` or more and an `int` of Java.
    ///
    /// # Errors
    /// As [`ControlSlots::within`].
    pub fn int(&self, slot: usize, name: &str, least: i64) -> Result<i64, Fault> {
        self.within(slot, name, least, i32::MAX.into())
    }

    /// The flags in a slot, all of them among `known`.
    ///
    /// # Errors
    /// `Argument` names the slot.
    pub fn flags(&self, slot: usize, known: i64) -> Result<i64, Fault> {
        let flags = self.0[slot];
        if flags & !known == 0 {
            Ok(flags)
        } else {
            Err(argument!(
                "control[{slot}], the flags, is {flags}: it must be a sum of the flags in {known}"
            ))
        }
    }

    /// Fit and partition.
    ///
    /// # Errors
    /// `Argument` if the partition is negative or no `int` of Java.
    pub fn key(&self, fit_slot: usize, partition_slot: usize) -> Result<Key, Fault> {
        let partition = self.int(partition_slot, "the partition", 0)?;
        Ok((self.any(fit_slot), partition as i32))
    }
}

/// `settings`: doubles by slot; the solver checks those that it reads. The slots come first; other numbers may follow them.
#[derive(Debug, Clone, Copy)]
pub struct SettingSlots<'a> {
    slots: &'a [f64],
    rest: &'a [f64],
}

impl<'a> SettingSlots<'a> {
    /// # Errors
    /// `Argument` if `settings` does not have all `slots`.
    pub fn new(settings: &'a [f64], slots: usize) -> Result<Self, Fault> {
        match settings.split_at_checked(slots) {
            Some((slots, rest)) => Ok(Self { slots, rest }),
            None => Err(argument!(
                "settings has length {}, expected at least {slots}",
                settings.len()
            )),
        }
    }

    /// The number in a slot.
    pub fn get(&self, slot: usize) -> f64 {
        self.slots[slot]
    }

    /// The numbers after the slots.
    pub fn rest(&self) -> &'a [f64] {
        self.rest
    }

    /// # Errors
    /// `Argument` if there are numbers after the slots.
    pub fn nothing_more(&self) -> Result<(), Fault> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(argument!(
                "settings has {} numbers more than this call reads",
                self.rest.len()
            ))
        }
    }
}
