<?php
// The function with which the tests of PHP packages report a step.
$steps = 0;
function step($good, $name, $got)
{
	global $steps;
	echo ($good ? 'ok ' : 'not ok ') . ++$steps . " - $name\n";
	if (!$good)
		echo '# got: ' . json_encode($got) . "\n";
}
